/** Errors of Postgres and its connections: which ones pass on their own, and which don't. */

/** Connections that were closed, refused or cut; names that can't be resolved for a moment. */
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
  "57P01", // Told to shut down.
  "57P02", // Crashed.
  "57P03", // Starting up or shutting down.
  "53300", // All connections are in use.
]);

/** Another transaction caused a rollback; a retry may succeed. */
const ROLLED_BACK: ReadonlySet<string> = new Set(["40001", "40P01"]);

/** The server has no TLS, or not the requested certificate. */
export const NO_TLS = "NO_TLS";

export function faultCode(fault: unknown): string | undefined {
  const code = fault instanceof Error && "code" in fault ? fault.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** May pass on its own. Whether the statement was carried out is unknown. */
export function isPassing(fault: unknown): boolean {
  const code = faultCode(fault) ?? "";
  return LOST.has(code) || ROLLED_BACK.has(code) || code.startsWith("08");
}

/** The store has been unreachable for longer than the patience. For a store in files: never. */
export function isStoreAway(fault: unknown): boolean {
  const code = faultCode(fault) ?? "";
  return LOST.has(code) || code.startsWith("08");
}
