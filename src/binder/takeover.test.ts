import { expect, it } from "vitest";
import { lookAroundAfterTakeover } from "./takeover.ts";

function scene(names: readonly string[]) {
  const scene = { leads: false, freed: [] as (readonly string[])[] };
  const look = lookAroundAfterTakeover({
    isLeader: () => scene.leads,
    names: () => names,
    freed: (some) => void scene.freed.push(some),
  });
  return { scene, look };
}

it("a new leader has pods that wait tried again, for what changed while nobody led; once for each time it takes over", () => {
  const { scene: now, look } = scene(["gpu-1", "gpu-2"]);
  look();
  expect(now.freed).toEqual([]);
  now.leads = true;
  look();
  look();
  expect(now.freed).toEqual([["gpu-1", "gpu-2"]]);
  now.leads = false;
  look();
  now.leads = true;
  look();
  expect(now.freed).toHaveLength(2);
});

it("it looks at some nodes at a time, so that binds are answered meanwhile, and at none once it leads no more", () => {
  const { scene: now, look } = scene(Array.from({ length: 450 }, (_, index) => `gpu-${index}`));
  now.leads = true;
  look();
  look();
  expect(now.freed.map(({ length }) => length)).toEqual([200, 200]);
  now.leads = false;
  look();
  expect(now.freed).toHaveLength(2);
  now.leads = true;
  for (let round = 0; round < 5; round++) look();
  expect(now.freed.flat().length).toBe(400 + 450);
});
