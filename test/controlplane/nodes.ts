import type { Api } from "./api.ts";
import { imageCatalogue } from "./images.ts";
import { type NodeClass, nodeClasses } from "./instances.ts";
import { nodeObject } from "./nodeobject.ts";
import type { Node, NodeImage, Quantities, Taint } from "./objects.ts";
import { createRandom, type Random } from "./random.ts";

/** What a node should be like; everything else follows from seed and index. */
export interface NodeOptions {
  /** Default `ip-10-…` after the node's address. */
  readonly name?: string;
  /** Which of the nodes of this seed. Default 0. */
  readonly index?: number;
  /** Default 1. The same seed, index and options give the same node. */
  readonly seed?: number;
  /** How long the node is as compact JSON, roughly; reached by the number of images. Default 13,500, at most 18,000. */
  readonly bytes?: number;
  /** How many images, in place of `bytes`; at most 50, as a kubelet reports. */
  readonly images?: number;
  /** Default: the class `index % classes`. */
  readonly class?: NodeClass;
  /** How many different classes nodes of consecutive indices have. Default 20, at most 72. */
  readonly classes?: number;
  /** Added to what the class has, or in place of it. */
  readonly allocatable?: Quantities;
  readonly capacity?: Quantities;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly unschedulable?: boolean;
}

/** Options of many nodes at once. */
export type NodesOptions = Omit<NodeOptions, "name" | "index"> & {
  /** Names become `<prefix>0`, `<prefix>1`, …; hostname labels too. */
  readonly namePrefix?: string;
};

const maxImages = 50;

/** A node as the API server shows it: one of EKS with Karpenter, complete with uid, managedFields, images and conditions. */
export function buildNode(options: NodeOptions = {}): Node {
  const { index = 0, seed = 1, classes = 20, bytes = 13_500 } = options;
  if (classes < 1 || classes > nodeClasses.length)
    throw new Error(`classes: 1 to ${nodeClasses.length}, not ${classes}`);
  const of = options.class ?? nodeClasses[index % classes];
  if (of === undefined) throw new Error(`no class for node ${index}`);
  const random = createRandom(seed * 1_000_003 + index);
  const build = (images: readonly NodeImage[]): Node =>
    nodeObject({ of, random: createRandom(seed * 31 + index), images, options });
  const images = pickImages(random);
  if (options.images !== undefined) return build(images.slice(0, options.images));
  return build(images.slice(0, countFor(bytes - jsonLength(build([])), images)));
}

/** Nodes with the indices 0 to count - 1. */
export function buildNodes(count: number, options: NodesOptions = {}): Node[] {
  const { namePrefix, ...shared } = options;
  return Array.from({ length: count }, (_, index) =>
    buildNode({ ...shared, index, ...(namePrefix === undefined ? {} : { name: `${namePrefix}${index}` }) }),
  );
}

/** How many bytes a node takes in an extender's request. */
export function jsonLength(node: Node): number {
  const { apiVersion: _apiVersion, kind: _kind, ...item } = node;
  return Buffer.byteLength(JSON.stringify(item));
}

/**
 * Creates nodes, with status, and takes away the taint that admission puts on every new node; managedFields stay as built.
 * A thousand take seconds. Answers the nodes as the API server has them.
 */
export async function createNodes(
  api: Api,
  nodes: readonly Node[],
  options: { parallel?: number } = {},
): Promise<Node[]> {
  const made: Node[] = [];
  const queue = nodes.entries();
  const worker = async (): Promise<void> => {
    for (const [index, node] of queue) made[index] = await createNode(api, node);
  };
  await Promise.all(Array.from({ length: options.parallel ?? 16 }, worker));
  return made;
}

async function createNode(api: Api, node: Node): Promise<Node> {
  const { uid: _uid, resourceVersion: _version, creationTimestamp: _created, ...metadata } = node.metadata;
  await api.create<Node>({ ...node, metadata } as Node);
  // Admission taints new nodes as not ready; the node lifecycle controller, which there is none of, would untaint them.
  // Without a resourceVersion nothing is compared, and managedFields are taken as they are given.
  return api.replace<Node>({ ...node, metadata } as Node);
}

function pickImages(random: Random): NodeImage[] {
  const left = [...imageCatalogue];
  const picked: NodeImage[] = [];
  while (picked.length < maxImages) picked.push(...left.splice(random.below(left.length), 1));
  return picked;
}

function countFor(bytes: number, images: readonly NodeImage[]): number {
  let sum = 0;
  return images.filter((image) => {
    const length = JSON.stringify(image).length + 1;
    sum += length;
    return sum - length / 2 < bytes;
  }).length;
}
