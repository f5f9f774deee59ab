import { setTimeout as sleep } from "node:timers/promises";
import { type ControlPlane, startControlPlane } from "../controlplane/controlplane.ts";
import { eventually } from "../controlplane/eventually.ts";
import { apiServerVersion, controlPlanePrograms, requirePrograms } from "../controlplane/programs.ts";
import { startScheduler } from "../controlplane/scheduler.ts";
import { applyInfra, type RunningBinder } from "../e2e/binder.ts";
import { FUNCTION_FAULTS, type KnownFault, OTHER_VERSION } from "../e2e/function-faults.ts";
import { type FunctionProxy, startFunctionProxy } from "../e2e/function-proxy.ts";
import type { Choice } from "./choice.ts";
import { type Decided, readDecisions } from "./outage-decisions.ts";
import { type Load, startLoad } from "./outage-load.ts";
import { CASES, type Case, type Measured, type Phase, report } from "./outage-report.ts";
import { startRelayBinder, startRelayFunction } from "./relay-arms.ts";
import { createRelayNodes } from "./relay-cluster.ts";
import { usageOf } from "./usage.ts";

/** How long each phase lasts, in milliseconds, and what fails. */
interface Phases {
  readonly each: number;
  readonly warmUp: number;
  readonly faults: readonly KnownFault[];
}

/** Where a case is measured. */
interface Scene {
  readonly one: Case;
  readonly binder: RunningBinder;
  readonly proxy: FunctionProxy;
  readonly load: Load;
}

/** Measures placing while the function fails in mid-load. True when it keeps what the documentation promises. */
export async function benchOutage({ smoke, write, progress, ...chosen }: Choice): Promise<boolean> {
  const { nodes = smoke ? 20 : 1_000, seconds = smoke ? 1 : 30, percentage } = chosen;
  const phases: Phases = {
    each: seconds * 1000,
    warmUp: Math.min(20, seconds) * 1000,
    faults: smoke
      ? [FUNCTION_FAULTS[0], FUNCTION_FAULTS.at(-1)].filter((fault) => fault !== undefined)
      : FUNCTION_FAULTS,
  };
  await requirePrograms(controlPlanePrograms([apiServerVersion]));
  const plane = await startControlPlane();
  const measured: Measured[] = [];
  try {
    await applyInfra(plane);
    await createRelayNodes(plane, nodes);
    const config = percentage === undefined ? {} : { percentageOfNodesToScore: percentage };
    for (const one of CASES) measured.push(...(await measureCase(plane, { one, config, phases, progress })));
  } finally {
    await plane.stop();
  }
  return report(measured, { nodes, seconds, write });
}

async function measureCase(
  plane: ControlPlane,
  {
    one,
    config,
    phases,
    progress,
  }: { one: Case; config: { percentageOfNodesToScore?: number }; phases: Phases } & Pick<Choice, "progress">,
): Promise<Measured[]> {
  const fn = await startRelayFunction(plane);
  const proxy = await startFunctionProxy(plane, fn);
  const { binder, extenders } = await startRelayBinder(plane, {
    profile: one.profile,
    env: { BERTH_FUNCTION_URL: proxy.url },
  });
  const served = new Set([await policyOf(binder, one), `${one.profile}@${OTHER_VERSION}`]);
  const scheduler = await startScheduler(plane, {
    version: apiServerVersion,
    verbosity: 0,
    config: { extenders: [...extenders], ...config },
  });
  const load = await startLoad(plane, one.pods);
  const figures: Omit<Measured, keyof Decided>[] = [];
  try {
    await load.watch.reached(1);
    await sleep(phases.warmUp);
    const scene: Scene = { one, binder, proxy, load };
    let before = await measurePhase(scene, phases.each);
    for (const fault of phases.faults) {
      const figure = await measureFault(scene, { before, fault, phase: phases.each });
      figures.push(figure);
      before = figure.after;
      const rates = [figure.before, figure.during, figure.after].map(({ rate }) => rate.toFixed(0)).join(" → ");
      progress(`${one.what}, ${fault.told}: ${rates} pods/s, back in ${figure.back.toFixed(1)} s`);
    }
  } finally {
    await load.stop();
    await scheduler.stop();
    await binder.stop();
    await fn.stop();
  }
  const decided = await readDecisions(binder.process.logFile, served);
  return figures.map((figure) => ({ ...figure, ...decided }));
}

async function measureFault(
  scene: Scene,
  { before, fault, phase }: { readonly before: Phase; readonly fault: KnownFault; readonly phase: number },
) {
  const { one, proxy } = scene;
  proxy.fault = fault.fault();
  const during = await measurePhase(scene, phase);
  proxy.fault = undefined;
  const back = await usedAgain(scene);
  return { one, told: fault.told, before, during, after: await measurePhase(scene, phase), back };
}

async function measurePhase({ binder, load }: Scene, phase: number): Promise<Phase> {
  const [started, cpu] = [performance.now(), (await usageOf(binder.process.pid)).cpuMs];
  await sleep(phase);
  const rate = load.rate(started, performance.now());
  const placed = (rate * phase) / 1000;
  return { rate, cpuMs: ((await usageOf(binder.process.pid)).cpuMs - cpu) / placed };
}

/** Seconds until the function's policy was pulled again and, where it has to be asked, until it answers for pods. */
async function usedAgain({ one, binder, proxy }: Scene): Promise<number> {
  const passed = proxy.passed.length;
  const started = performance.now();
  const answered = 'berth_far_questions_total{outcome="answered"}';
  const before = await metric(binder, answered);
  const pulled = async () =>
    proxy.passed.includes(`/${one.profile}`, passed) &&
    (await metric(binder, `berth_policy_problem{profile="${one.profile}"}`)) === 0;
  // One more answer may be that of a probe, which is about no pod.
  const asked = async () =>
    (await metric(binder, "berth_function_away")) === 0 && (await metric(binder, answered)) > before + 1;
  return eventually(
    "the function is used again",
    async () => (await (one.profile === "far" ? asked : pulled)()) && seconds(started),
    {
      within: 30_000,
      every: 50,
    },
  ).catch(() => Number.POSITIVE_INFINITY);
}

function seconds(since: number): number {
  return (performance.now() - since) / 1000;
}

async function metric(binder: RunningBinder, name: string): Promise<number> {
  const { text } = await binder.get("/metrics");
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.split(" ").at(-1) ?? 0);
}

async function policyOf(binder: RunningBinder, { profile }: Case): Promise<string> {
  const { text } = await binder.get("/metrics");
  const version = new RegExp(`^berth_policy_info\\{profile="${profile}",version="([^"]+)"`, "m").exec(text)?.[1];
  if (version === undefined) throw new Error(`the binder tells no version of profile ${profile} in /metrics`);
  return `${profile}@${version}`;
}
