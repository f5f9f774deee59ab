import { createSkims, type Skim, type Skims } from "../protocol/skim.ts";
import { SKIM_CODE } from "./skim-code.ts";

/** As much of WebAssembly as is used here; the type libraries for Node leave it to those for browsers. */
declare const WebAssembly: {
  readonly Module: new (code: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/**
 * What makes reading nodes cheaper on Node, compiled when it is asked for. None where V8 compiles no WebAssembly (`node
 * --jitless`), or its machine lacks SIMD.
 */
export function nodeSkims(): Skims | undefined {
  try {
    const module = new WebAssembly.Module(Buffer.from(SKIM_CODE, "base64"));
    return createSkims(() => new WebAssembly.Instance(module).exports as Skim);
  } catch {
    return undefined;
  }
}
