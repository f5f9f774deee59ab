import { createRandom } from "./random.ts";

/** What is the same for all nodes of a class: they differ in names, addresses and images only. */
export interface NodeClass {
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: "on-demand" | "spot";
  readonly arch: "amd64" | "arm64";
  readonly cores: number;
  readonly memoryGiB: number;
  readonly maxPods: number;
  /** Invented, but in the proportions of real ones, in dollars. */
  readonly hourlyPrice: number;
}

const instanceTypes = [
  { instanceType: "m7i.large", arch: "amd64", cores: 2, memoryGiB: 8, maxPods: 29, hourly: 0.1008 },
  { instanceType: "m7i.xlarge", arch: "amd64", cores: 4, memoryGiB: 16, maxPods: 58, hourly: 0.2016 },
  { instanceType: "m7i.2xlarge", arch: "amd64", cores: 8, memoryGiB: 32, maxPods: 58, hourly: 0.4032 },
  { instanceType: "m7i.4xlarge", arch: "amd64", cores: 16, memoryGiB: 64, maxPods: 234, hourly: 0.8064 },
  { instanceType: "c7i.xlarge", arch: "amd64", cores: 4, memoryGiB: 8, maxPods: 58, hourly: 0.1785 },
  { instanceType: "c7i.2xlarge", arch: "amd64", cores: 8, memoryGiB: 16, maxPods: 58, hourly: 0.357 },
  { instanceType: "r7i.xlarge", arch: "amd64", cores: 4, memoryGiB: 32, maxPods: 58, hourly: 0.2646 },
  { instanceType: "r7i.2xlarge", arch: "amd64", cores: 8, memoryGiB: 64, maxPods: 58, hourly: 0.5292 },
  { instanceType: "m7g.xlarge", arch: "arm64", cores: 4, memoryGiB: 16, maxPods: 58, hourly: 0.1632 },
  { instanceType: "m7g.2xlarge", arch: "arm64", cores: 8, memoryGiB: 32, maxPods: 58, hourly: 0.3264 },
  { instanceType: "c7g.xlarge", arch: "arm64", cores: 4, memoryGiB: 8, maxPods: 58, hourly: 0.145 },
  { instanceType: "t3.xlarge", arch: "amd64", cores: 4, memoryGiB: 16, maxPods: 58, hourly: 0.1664 },
] as const;

const zones = [
  { zone: "eu-central-1a", factor: 1 },
  { zone: "eu-central-1b", factor: 1.01 },
  { zone: "eu-central-1c", factor: 1.02 },
] as const;

const capacities = [
  { capacityType: "on-demand", factor: 1 },
  { capacityType: "spot", factor: 0.35 },
] as const;

/** Every class there is, 72 of them, in an order that mixes types, zones and capacities. */
export const nodeClasses: readonly NodeClass[] = shuffled(
  instanceTypes.flatMap(({ hourly, ...type }) =>
    zones.flatMap(({ zone, factor: zoneFactor }) =>
      capacities.map(({ capacityType, factor }) => {
        const hourlyPrice = Number((hourly * zoneFactor * factor).toFixed(4));
        return { ...type, zone, capacityType, hourlyPrice };
      }),
    ),
  ),
);

function shuffled<T>(items: readonly T[]): T[] {
  const random = createRandom(7);
  const order = items.map((item) => ({ item, at: random.below(1_000_000) }));
  return order.sort((a, b) => a.at - b.at).map(({ item }) => item);
}
