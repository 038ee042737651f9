/** Connections to addresses that were checked before: the name is not resolved again, so it cannot change its mind. */
import { connect, isIP, type LookupFunction, type Socket } from "node:net";

export interface DialOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Rejects when no address answers in time. */
export function dialPinned(
  url: URL,
  addresses: readonly string[],
  { timeoutMs, signal }: DialOptions,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: url.hostname.replace(/^\[|\]$/g, ""),
      port: portOf(url),
      lookup: lookupPinned(addresses),
      allowHalfOpen: true,
      signal,
    });
    const timer = setTimeout(() => socket.destroy(new Error("no answer in time")), timeoutMs);
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
    socket.on("error", reject); // Later ones are for whoever uses it, and must not be nobody's.
    socket.once("close", () => {
      clearTimeout(timer);
      reject(new Error("the connection was closed"));
    });
  });
}

export function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === "https:" ? 443 : 80);
}

export function lookupPinned(addresses: readonly string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    if (options.all) callback(null, pinned);
    else callback(null, pinned[0]?.address ?? "", pinned[0]?.family);
  };
}
