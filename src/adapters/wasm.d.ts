/** What wrangler makes of a file with this ending. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
