/** Why `berth dev` cannot go on: one message for people, with what to do. */
export class DevError extends Error {
  override readonly name = "DevError";
}
