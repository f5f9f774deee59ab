import module from "../protocol/assembly/skim.wasm";
import { createSkims, type Skim } from "../protocol/skim.ts";

/** What makes reading nodes cheaper in a Worker; compiled with it, for nothing may be compiled while it runs. */
export const workerSkims = createSkims(() => new WebAssembly.Instance(module).exports as unknown as Skim);
