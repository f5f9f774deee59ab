import { expect, it } from "vitest";
import compiled from "#policy" with { type: "json" };
import { createFunction } from "../src/extender/function.ts";
import { loadCompiled } from "../src/policy/compiled.ts";
import { registry } from "../src/policy/registry.ts";
import { args, JSON_BODY, nodeText } from "./contract/fixtures.ts";
import { AS_A, SECRETS } from "./contract/secrets.ts";

/** The CPU time that the free plan of Workers gives a request, in milliseconds. */
const FREE_PLAN = 10;

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

it("fifty nodes of 15 KB take less CPU than the free plan of Workers gives, as docs/what-leaves-the-cluster.md says (OpenList-Worker #67)", async () => {
  const app = await createFunction(await loadCompiled(compiled, registry), {
    secret: (name) => SECRETS[name as keyof typeof SECRETS],
    openOnLoopback: false,
    peer: () => ({ loopback: true }),
    log: () => undefined,
    now: Date.now,
  });
  const filler = "x".repeat(14_500);
  const nodes = Array.from({ length: 50 }, (_, index) => nodeText(`n${index}`, { type: "small", labels: { filler } }));
  const body = args({ nodes });
  expect(body.length).toBeGreaterThan(700_000);
  const ask = async () => {
    const request = new Request("http://x/default/filter", {
      method: "POST",
      headers: { ...AS_A, ...JSON_BODY },
      body,
    });
    const answer = await app.fetch(request);
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  };
  // An isolate that has answered before: the first requests pay for compilers that work beside them.
  for (let run = 0; run < 60; run++) await ask();
  const taken: number[] = [];
  for (let run = 0; run < 30; run++) taken.push(await milliseconds(ask));
  // The lower quartile: a machine that is busy beside this makes the same work take more CPU, never less.
  const quartile = taken.sort((left, right) => left - right)[7];
  expect(quartile).toBeLessThan(FREE_PLAN);
}, 60_000);
