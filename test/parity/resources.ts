import fc from "fast-check";
import type { JsonObject } from "../../src/protocol/json.ts";

/** A device resource. */
export const GPU = "example.com/gpu";

/** Something, or nothing: `some` times out of `some` + `none`. */
export function sometimes<T>(arbitrary: fc.Arbitrary<T>, some: number, none: number): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: some, arbitrary }, { weight: none, arbitrary: fc.constant(undefined) });
}

/** What a container, a pod or a status says of resources. */
export const requests: fc.Arbitrary<Record<string, string>> = fc
  .record({
    cpu: sometimes(fc.constantFrom("0", "100m", "250m", "1", "1500m", "0.1", "10u"), 2, 1),
    memory: sometimes(fc.constantFrom("0", "64Mi", "1Gi", "100M", "4Gi", "1500m"), 2, 1),
    "ephemeral-storage": sometimes(fc.constantFrom("1Gi", "20Gi"), 1, 5),
    [GPU]: sometimes(fc.constantFrom("0", "1", "2"), 1, 8),
    "hugepages-2Mi": sometimes(fc.constantFrom("0", "64Mi"), 1, 8),
  })
  .map(withoutGaps);

/** The fields that are there. */
export function withoutGaps<T>(record: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).filter((entry): entry is [string, T] => entry[1] !== undefined));
}

const containerStatus = (name: string) =>
  fc.record(
    {
      name: fc.constant(name),
      allocatedResources: requests,
      resources: fc.record({ requests }, { requiredKeys: [] }),
    },
    { requiredKeys: ["name"] },
  );

/** What a kubelet reports of a pod's resources while they are resized in place. */
export const resourceStatus: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      containerStatuses: fc.tuple(containerStatus("c0"), containerStatus("c1")),
      initContainerStatuses: fc.tuple(containerStatus("i0")),
      allocatedResources: requests,
      resources: fc.record({ requests }, { requiredKeys: [] }),
      conditions: fc
        .constantFrom("Infeasible", "Deferred")
        .map((reason) => [{ type: "PodResizePending", status: "True", reason }]),
    },
    { requiredKeys: [] },
  )
  .map((status) => status as JsonObject);
