import { homedir } from "node:os";
import { join } from "node:path";
import { type Connection, connect } from "../cluster/connection.ts";
import { ClusterError } from "../cluster/kubeconfig.ts";
import { inspectNode } from "../placement/inspect.ts";
import { usageOf } from "../placement/usage.ts";
import { CommandError } from "./command-error.ts";
import { createAsker } from "./doctor/ask.ts";
import { readTarget } from "./doctor/target.ts";
import { type Explanation, explanation } from "./explain/explanation.ts";
import { gpuReport } from "./explain/gpus.ts";
import { functionJudge, type Judge, localJudge } from "./explain/judge.ts";
import { liveSubject, readCluster } from "./explain/live.ts";
import { type Subject, subjectOfRequest } from "./explain/subject.ts";
import { EXPLANATION_LEGEND, explanationHeading, explanationTable, nodeDetails } from "./explain/table.ts";
import { readText } from "./read-text.ts";
import { createScreen, type Screen } from "./screen.ts";

/** Which cluster is asked, and how the answer looks. */
export interface ClusterOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: "text" | "json";
}

/** By which policy a pod is judged. */
export interface ExplainOptions extends ClusterOptions {
  readonly config: string;
  readonly facts: string;
  readonly profile?: string;
  /** A function's URL with the profile at its end. */
  readonly url?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Only this node, with all that is known of it. */
  readonly node?: string;
  readonly details: boolean;
}

/**
 * Explains what a policy makes of a pod of the cluster, on every node.
 *
 * @param pod `<namespace>/<name>`, or a name in the context's namespace
 * @throws {CommandError} when the cluster, the pod, the policy or the function cannot be had
 */
export async function explainPod(pod: string, options: ExplainOptions): Promise<void> {
  const screen = createScreen(process.stdout, process.stderr);
  await inCluster(options, async (connection) => {
    const [name = "", namespace = connection.namespace ?? "default"] = pod.split("/").reverse();
    const read = () => liveSubject(connection, { namespace, name, now: Date.now() });
    const subject = await screen.step("reading the cluster", read, ({ nodes }) => `${nodes.length} nodes read`);
    show(await judged(subject, options), options, screen);
  });
}

/** Explains a request that kube-scheduler has sent, from a file. Throws {CommandError} as {@link explainPod}. */
export async function explainFile(file: string, options: ExplainOptions): Promise<void> {
  const subject = subjectOfRequest(await readText(file), file, Date.now());
  show(await judged(subject, options), options, createScreen(process.stdout, process.stderr));
}

/** Shows who holds the GPU memory of the cluster. Throws {CommandError} when the cluster cannot be had. */
export async function explainNodes(options: ClusterOptions): Promise<void> {
  const { step, paint, print } = createScreen(process.stdout, process.stderr);
  await inCluster(options, async (connection) => {
    const read = () => readCluster(connection, Date.now());
    const cluster = await step("reading the cluster", read, ({ nodes }) => `${nodes.length} nodes read`);
    const having = cluster.nodes.filter(({ node }) => node.devices.length > 0);
    const nodes = having.map(({ node, presence }) => inspectNode(node, usageOf(node, presence)));
    const asOf = new Date(cluster.at).toISOString();
    if (options.output === "json") print(JSON.stringify({ asOf, nodes }, null, 2));
    else print(`${gpuReport(nodes, paint)}\n\nas of ${asOf}, in the cluster's own unit of GPU memory`);
  });
}

async function judged(subject: Subject, options: ExplainOptions): Promise<Explanation> {
  if (options.url === undefined) {
    const files = { configFile: options.config, factsFile: options.facts };
    return explained(await localJudge(files, options.profile), subject);
  }
  const { config: _, ...own } = options;
  const target = await readTarget({ ...own, extender: 1, names: false, timeout: "30s" });
  const asker = createAsker(target, () => performance.now());
  try {
    const profile = new URL(target.prefix).pathname.split("/").at(-1) ?? "";
    return await explained(functionJudge(asker, profile), subject);
  } finally {
    await asker.close();
  }
}

async function explained(judge: Judge, subject: Subject): Promise<Explanation> {
  return explanation(subject, await judge(subject));
}

function show(all: Explanation, options: ExplainOptions, { paint, width, print }: Screen): void {
  const nodes = options.node === undefined ? all.nodes : all.nodes.filter(({ node }) => node === options.node);
  if (nodes.length === 0 && options.node !== undefined) throw new CommandError(`there is no node ${options.node}`);
  if (options.output === "json") {
    print(JSON.stringify({ ...all, nodes }, null, 2));
    return;
  }
  const details = options.details || options.node !== undefined ? nodes.map((node) => nodeDetails(node, paint)) : [];
  const table = explanationTable(
    all.nodes.filter((node) => nodes.includes(node)),
    { paint, width },
  );
  print([explanationHeading(all, paint), table, EXPLANATION_LEGEND, ...details].join("\n"));
}

async function inCluster(options: ClusterOptions, work: (connection: Connection) => Promise<void>): Promise<void> {
  const kubeconfig = options.kubeconfig ?? process.env["KUBECONFIG"] ?? join(homedir(), ".kube", "config");
  const { context } = options;
  const connection = await connect({ kubeconfig, ...(context !== undefined && { context }) }).catch(
    (error: unknown) => {
      throw error instanceof ClusterError ? new CommandError(error.message) : error;
    },
  );
  try {
    await work(connection);
  } finally {
    await connection.close();
  }
}
