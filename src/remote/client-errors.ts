/** Why a function gave no answer that can be used; the message is a sentence for people and holds no secret. */
export class FunctionError extends Error {
  override readonly name = "FunctionError";
}

export function hungError(origin: string, timeoutMs: number): FunctionError {
  return new FunctionError(`the function at ${origin} gave no whole answer within ${timeoutMs / 1000} s`);
}

export function tooLargeError(maxBytes: number): FunctionError {
  return new FunctionError(`the function's answer is larger than ${maxBytes} bytes`);
}

/** Puts what broke a connection into words, and says what to do where that is clear. */
export function sayUnreachable(origin: string, error: unknown): FunctionError {
  return new FunctionError(`the function at ${origin} cannot be reached: ${whyUnreachable(error, TRUST)}`);
}

/**
 * What broke a connection, for people: the end of a sentence that names the server.
 *
 * @param trust what to do about a certificate that is not trusted here
 */
export function whyUnreachable(error: unknown, trust: string): string {
  const codes = codesOf(error);
  const known = codes.map((code) => WORDS[code]).find((words) => words !== undefined);
  if (known !== undefined) return known;
  const certificate = codes.find((code) => /CERT|SELF_SIGNED|ISSUER|VERIFY/.test(code));
  if (certificate !== undefined) return `its certificate is not accepted (${certificate}): ${trust}`;
  return codes[0] === undefined ? "the connection broke" : `the connection broke (${codes[0]})`;
}

const TRUST = "BERTH_FUNCTION_CA has to name the authority that signed it";

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "its name is not known",
  EAI_AGAIN: "names cannot be resolved now",
  EHOSTUNREACH: "there is no way to its host",
  ENETUNREACH: "there is no way to its network",
  ECONNRESET: "the connection was reset",
  ETIMEDOUT: "connecting took too long",
  ERR_SSL_WRONG_VERSION_NUMBER: "it speaks plain HTTP where the URL says https",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "it speaks plain HTTP where the URL says https",
  UND_ERR_SOCKET: "the connection broke off",
  UND_ERR_CONNECT_TIMEOUT: "connecting took too long",
  UND_ERR_HEADERS_TIMEOUT: "it took the question and did not answer",
  UND_ERR_BODY_TIMEOUT: "its answer stopped half-way",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "its answer broke off",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name: use the name that the certificate has",
  ERR_INVALID_CHAR: "the token has characters that no header carries",
  UND_ERR_INVALID_ARG: "the token has characters that no header carries",
  UND_ERR_DESTROYED: "the client is closed",
  UND_ERR_CLOSED: "the client is closed",
};

/** Codes of an error and of what lies under it: undici wraps, and several addresses give several errors. */
function codesOf(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 3) return [];
  const { code } = error as NodeJS.ErrnoException;
  const inner = error instanceof AggregateError ? error.errors : [error.cause];
  return [...(code === undefined ? [] : [code]), ...inner.flatMap((each: unknown) => codesOf(each, depth + 1))];
}
