import type { Connection } from "../cluster/connection.ts";
import { connect } from "../cluster/connection.ts";
import { ClusterError } from "../cluster/kubeconfig.ts";
import type { JsonObject } from "../protocol/json.ts";
import { CommandError } from "./command-error.ts";
import { createAsker } from "./doctor/ask.ts";
import { binderFindings } from "./doctor/binder.ts";
import { nodesSent, question } from "./doctor/body.ts";
import {
  type CallContext,
  movingFinding,
  noQuestion,
  profileFinding,
  protocolFinding,
  verbFindings,
} from "./doctor/calls.ts";
import { clusterFindings, clusterNodes } from "./doctor/cluster.ts";
import { anyFailed, type Finding, skipped } from "./doctor/finding.ts";
import { reach } from "./doctor/reach.ts";
import { doctorExitCode, doctorJson, doctorSummary, doctorTable } from "./doctor/report.ts";
import { readTarget, type Target, type TargetOptions } from "./doctor/target.ts";
import { readSample } from "./sample.ts";
import { createScreen } from "./screen.ts";

/** What `berth doctor` is asked for. */
export interface DoctorOptions extends Omit<TargetOptions, "url"> {
  readonly kubeconfig?: string;
  readonly context?: string;
  /** `<namespace>/<name>` of the binder's service account. */
  readonly account: string;
  readonly nodes?: number;
  readonly calls: number;
  readonly output: "text" | "json";
}

/**
 * Calls an extender as kube-scheduler would, step by step, and then asks the cluster around it. Prints what was found
 * and sets the exit code: 0 well, 3 warnings, 2 something fails.
 *
 * @throws {CommandError} when there is nothing to call, or a file or the kubeconfig cannot be read
 */
export async function doctor(url: string | undefined, options: DoctorOptions): Promise<void> {
  const target = await readTarget({ ...options, ...(url !== undefined && { url }) });
  const screen = createScreen(process.stdout, process.stderr);
  const connection = await connected(options);
  try {
    const examine = () => examination(target, connection, options);
    const { shown } = target.address;
    const findings = await screen.step(`calling ${shown}`, examine, (all) => `${all.length} steps looked at`);
    if (options.output === "json") screen.print(doctorJson(shown, findings));
    else screen.print(`${doctorTable(findings, screen)}\n${doctorSummary(shown, findings)}`);
    process.exitCode = doctorExitCode(findings);
  } finally {
    await connection?.close();
  }
}

async function connected({ kubeconfig, context }: DoctorOptions): Promise<Connection | undefined> {
  if (kubeconfig === undefined) return undefined;
  try {
    return await connect({ kubeconfig, ...(context !== undefined && { context }) });
  } catch (error) {
    throw error instanceof ClusterError ? new CommandError(error.message) : error;
  }
}

async function examination(target: Target, connection: Connection | undefined, options: DoctorOptions) {
  const nodes = connection && (await clusterNodes(connection));
  const known = typeof nodes === "object" ? nodes : undefined;
  const reached = await reach(target, Date.now);
  const findings: Finding[] = [...reached.findings];
  if (!anyFailed(findings)) {
    findings.push(protocolFinding(target, reached.protocol));
    findings.push(...(await callFindings(target, known, options)));
  }
  return [...findings, ...(await aroundFindings({ target, connection, nodes, options }))];
}

async function callFindings(target: Target, known: readonly JsonObject[] | undefined, options: DoctorOptions) {
  const asker = createAsker(target, () => performance.now());
  try {
    const context: CallContext = {
      target,
      asker,
      question: await theQuestion(target, known, options),
      times: options.calls,
    };
    const profile = await profileFinding(context);
    if (profile.status === "failed") return [profile];
    const unknown = target.names && known === undefined;
    const verbs = unknown ? [noQuestion("filter")] : await bothVerbs(context);
    return [profile, ...verbs, ...(await movingFinding(context)), ...(await binderFindings(asker))];
  } finally {
    await asker.close();
  }
}

/** What keeps filter from an answer would keep prioritize from one too. */
async function bothVerbs(context: CallContext): Promise<Finding[]> {
  const filter = await verbFindings("filter", context);
  return anyFailed(filter) ? filter : [...filter, ...(await verbFindings("prioritize", context))];
}

async function theQuestion(target: Target, known: readonly JsonObject[] | undefined, options: DoctorOptions) {
  const sample = await readSample();
  const real = known !== undefined && known.length > 0;
  const nodes = real ? known : sample.nodes;
  const count = options.nodes ?? (real ? nodesSent(known.length) : DEFAULT_NODES);
  const source = real ? "this cluster's nodes" : "recorded nodes; --kubeconfig takes yours";
  return question(sample, nodes, { count, names: target.names, source });
}

/** Without a cluster: as many as kube-scheduler sends of a hundred. */
const DEFAULT_NODES = 100;

interface Around {
  readonly target: Target;
  readonly connection: Connection | undefined;
  readonly nodes: readonly JsonObject[] | string | undefined;
  readonly options: DoctorOptions;
}

async function aroundFindings({ target, connection, nodes, options }: Around): Promise<Finding[]> {
  if (connection === undefined) {
    const mend = "Give --kubeconfig for the binder's rights, ledgers, devices, events and autoscalers.";
    return [skipped("cluster", "Not looked at.", mend)];
  }
  if (typeof nodes !== "object") return [skipped("cluster", nodes ?? "Not looked at.")];
  const [namespace = "", name = ""] = options.account.split("/");
  return clusterFindings(connection, { target, nodes, account: { namespace, name } });
}
