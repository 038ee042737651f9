/** What Postgres and its connections say when something goes wrong: which of it passes by itself, and which does not. */

/** Connections that are closed, refused or cut; names that cannot be looked up for a moment. */
const LOST: ReadonlySet<string> = new Set([
  "CONNECTION_CLOSED",
  "CONNECTION_DESTROYED",
  "CONNECT_TIMEOUT",
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ERR_SOCKET_CLOSED",
  "ERR_STREAM_DESTROYED",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EAI_AGAIN",
  "57P01", // It was told to end.
  "57P02", // It has crashed.
  "57P03", // It starts, or ends.
  "53300", // All its connections are in use.
]);

/** The transaction was taken back because of another one, and may succeed when it is made again. */
const ROLLED_BACK: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** The server has no TLS, or not the certificate that is asked for. */
export const NO_TLS = "NO_TLS";

export function faultCode(fault: unknown): string | undefined {
  const code = fault instanceof Error && "code" in fault ? fault.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** It may pass by itself. Whether the statement was carried out is unknown. */
export function isPassing(fault: unknown): boolean {
  const code = faultCode(fault) ?? "";
  return LOST.has(code) || ROLLED_BACK.has(code) || code.startsWith("08");
}

/** The store cannot be reached, for longer than was waited for it. Of a store in files: never. */
export function isStoreAway(fault: unknown): boolean {
  const code = faultCode(fault) ?? "";
  return LOST.has(code) || code.startsWith("08");
}
