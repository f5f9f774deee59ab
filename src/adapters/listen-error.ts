/** Why a listener could not start: one sentence for people, with what to do. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}
