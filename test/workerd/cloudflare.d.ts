/** The part of workerd's own module that the tests use. */
declare module "cloudflare:workers" {
  /** The Worker under test, as its bindings see it. */
  export const exports: { readonly default: { fetch(request: Request): Promise<Response> } };
}
