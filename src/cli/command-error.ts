/** Why a command cannot go on: one message for people, with what to do. Exit code 1. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}
