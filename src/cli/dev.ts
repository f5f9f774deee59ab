import type { Policy } from "../policy/policy.ts";
import { askDecision, type DecisionReport } from "./decision.ts";
import { decisionFooter, decisionHeading, decisionTable } from "./decision-table.ts";
import { policyName, readDevPolicy } from "./dev-policy.ts";
import { type DevServer, startDevServer, untilAnswering } from "./dev-server.ts";
import { extendersBlock } from "./extenders-block.ts";
import { NoAnswerError } from "./function-client.ts";
import { type LocalAuthority, localAuthority } from "./local-authority.ts";
import { followPolicy, rebuild, stampOf } from "./policy-changes.ts";
import { requirePort } from "./ports.ts";
import { readSample } from "./sample.ts";
import { createScreen, type Screen } from "./screen.ts";
import { stopSignal } from "./stop-signal.ts";
import { matters } from "./wrangler-output.ts";

/** Options of `berth dev`. */
export interface DevOptions {
  /** 0 takes a free port. */
  readonly port: number;
  /** The first profile of berth.yaml when not given. */
  readonly profile?: string;
  /** Stop after the first decision. */
  readonly once: boolean;
  readonly output: "text" | "json";
  readonly verbose: boolean;
}

/** The names in the function's certificate; containers of Docker Desktop know this machine by the second. */
const NAMES = ["localhost", "host.docker.internal", "127.0.0.1", "::1"];
const FOLDER = ".berth";

/**
 * Serves the function with wrangler's dev server, shows a decision, and goes on serving until SIGINT, SIGTERM or
 * SIGHUP. Nothing that it has started is left behind.
 *
 * @throws an error whose message is for people: a fault in a file, a taken port, a server that ended by itself
 */
export async function dev(options: DevOptions): Promise<void> {
  const asked = stopSignal();
  const screen = createScreen(process.stdout, process.stderr);
  const stamp = await stampOf();
  const policy = await screen.step(
    "checking berth.yaml and facts.json",
    () => readDevPolicy(options.profile),
    (found) => `berth.yaml and facts.json are in order: policy ${policyName(found)}`,
  );
  const authority = await screen.step("looking for certificates", () => localAuthority(FOLDER, NAMES), tellAuthority);
  const port = await requirePort(options.port);
  if (asked.aborted) return;
  const onLine = (line: string) => {
    if (options.verbose || matters(line)) screen.note(line);
  };
  const server = await startDevServer({ port, authority, onLine, asked });
  try {
    await serve({ options, screen, authority, server }, policy, stamp);
  } catch (error) {
    if (!asked.aborted) throw server.over.aborted ? server.over.reason : error;
  } finally {
    await server.stop();
  }
}

interface Stage {
  readonly options: DevOptions;
  readonly screen: Screen;
  readonly authority: LocalAuthority;
  readonly server: DevServer;
}

async function serve(stage: Stage, policy: Policy, stamp: string): Promise<void> {
  const { options, screen, server } = stage;
  const started = Date.now();
  await screen.step(
    "starting the function with wrangler dev (5 to 30 seconds)",
    () => untilAnswering(server),
    () =>
      `the function answers on ${server.client.url} (wrangler dev, ${((Date.now() - started) / 1000).toFixed(1)} s)`,
    "slow",
  );
  if ((await stampOf()) !== stamp) await rebuild();
  const { profile, once } = options;
  await followPolicy(policy, stamp, { profile, once, note: screen.note, show: shower(stage), signal: server.over });
}

/** Shows decisions; after the first, how to make kube-scheduler ask. */
function shower(stage: Stage): (policy: Policy) => Promise<boolean> {
  const { options, screen, authority, server } = stage;
  const { url } = server.client;
  let shown = 0;
  return async (policy) => {
    const report = await tryToAsk(stage, policy);
    if (!report) return false;
    if (options.output === "json") {
      screen.print(JSON.stringify({ url, caFile: authority.caFile, ...report }));
    } else {
      printText(screen, report);
      if (shown === 0) screen.print(extendersBlock({ url, profile: policy.profile, caData: authority.caData }));
    }
    if (shown++ === 0 && !options.once) {
      screen.note("Serving until Ctrl-C. Change berth.yaml or facts.json, and the next decision is another.");
    }
    return true;
  };
}

/** While wrangler takes a new policy, requests fail or are answered by the old one: that is not an answer yet. */
async function tryToAsk({ server }: Stage, policy: Policy): Promise<DecisionReport | undefined> {
  try {
    const { policy: inForce } = await server.client.ask(`/${policy.profile}`);
    return inForce === policyName(policy) ? await askDecision(server.client, policy, await readSample()) : undefined;
  } catch (error) {
    if (error instanceof NoAnswerError && !server.over.aborted) return undefined;
    throw error;
  }
}

function printText(screen: Screen, report: DecisionReport): void {
  const lines = [decisionHeading(report), decisionTable(report, screen), decisionFooter(report)];
  screen.print(`\n${lines.join("\n")}\n`);
}

function tellAuthority({ created, fingerprint }: LocalAuthority): string {
  return `certificate ${created ? "made" : "kept"} in ${FOLDER}/, SHA-256 ${fingerprint}`;
}
