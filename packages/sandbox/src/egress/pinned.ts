/**
 * Connections to addresses that were checked before: the name is not resolved again, so whoever owns it cannot answer
 * differently the second time. The proxy's way to a host, and one GET request with its body.
 */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createBrotliDecompress, createGunzip } from "node:zlib";
import { VERSION } from "@metier/base/places";
import { done, type Result } from "@metier/base/result";
import { type AddressBook, checkDestination, type EgressRefusal, refuseEgress } from "./check-destination.ts";

export interface ReachOptions {
  /** Granted domains. */
  readonly network: readonly string[];
  /** Asked each time: why nothing may go out at present, in a sentence. */
  whyHeld?(): string | undefined;
  /** A connection to this host was made; nothing is sent before it has come back. */
  onReach?(host: string): void | Promise<void>;
  onRefuse?(host: string, refusal: EgressRefusal): void;
}

interface ReachParts extends ReachOptions {
  readonly addresses: AddressBook;
  readonly dialMs: number;
  /** Ends what is being dialled. */
  readonly signal: AbortSignal;
  /** What becomes of every connection. */
  track(connection: Socket): Socket;
}

/** `target` is a URL; a refusal or a fault is a value. */
export type ReachHost = (
  target: string,
) => Promise<Result<{ readonly url: URL; readonly upstream: Socket }, EgressRefusal>>;

export function createReach(parts: ReachParts): ReachHost {
  const { network, addresses, dialMs, signal } = parts;
  return async (target) => {
    const held = parts.whyHeld?.();
    const checked =
      held === undefined
        ? await checkDestination(target, network, addresses)
        : refuseEgress("not-granted", held);
    if (!checked.ok) {
      const host = URL.parse(target)?.hostname;
      if (host) parts.onRefuse?.(host, checked.refusal);
      return checked;
    }
    const { url } = checked.value;
    try {
      const upstream = await dialPinned(url, checked.value.addresses, dialMs, signal);
      const tracked = parts.track(upstream);
      await parts.onReach?.(url.hostname);
      return done({ url, upstream: tracked });
    } catch (fault) {
      return refuseEgress("unreachable", `\`${url.host}\` cannot be reached: ${(fault as Error).message}.`);
    }
  };
}

/** Rejects when no address answers in time. */
function dialPinned(
  url: URL,
  addresses: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
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

function lookupPinned(addresses: readonly string[]): LookupFunction {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    if (options.all) callback(null, pinned);
    else callback(null, pinned[0]?.address ?? "", pinned[0]?.family);
  };
}

/*
 * The request: the host stays in the `Host` header and the TLS name, certificates are checked, and no proxy, cookie, stored
 * connection or credential takes part.
 */

const HEADERS = {
  "user-agent": `metier/${VERSION}`,
  accept: "text/html, application/json, text/plain, application/xml;q=0.9, */*;q=0.5",
};

interface PinnedRequest {
  /** Whether the answer may be packed. Default: yes. */
  readonly packed?: boolean;
  /** Default: `GET`. */
  readonly method?: string;
  /** Over those that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** How long nothing may be heard, in milliseconds. Default: as long as `signal` allows. */
  readonly idleMs?: number;
}

/** Rejects when there is no answer; the body of an answer is yet to be read, or to be destroyed. */
export function requestPinned(
  url: URL,
  addresses: readonly string[],
  signal: AbortSignal | undefined,
  { packed = true, method = "GET", headers, body, idleMs }: PinnedRequest = {},
): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent: false,
      method,
      headers: { ...HEADERS, ...headers, "accept-encoding": packed ? "gzip, br" : "identity" },
      lookup: lookupPinned(addresses),
      rejectUnauthorized: true,
      ...(idleMs !== undefined && { timeout: idleMs }),
      ...(signal && { signal }),
    });
    sent.once("response", resolve);
    sent.once("timeout", () => sent.destroy(silent(idleMs)));
    sent.once("error", reject);
    sent.once("close", () => reject(new Error("the connection was closed without an answer")));
    sent.end(body);
  });
}

/** With the code by which it is told that a second try may help. */
function silent(idleMs = 0): Error {
  return Object.assign(new Error(`nothing was heard for ${idleMs} ms`), { code: "ETIMEDOUT" });
}

interface Body {
  readonly bytes: Buffer;
  /** The body is longer, and its rest was not taken. */
  readonly isCut: boolean;
}

type Unpack = () => Transform;

/** Answers that end too early are given as far as they go. */
const unpackGzip: Unpack = () => createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
const unpackBrotli: Unpack = () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
const UNPACK: ReadonlyMap<string, Unpack> = new Map([
  ["gzip", unpackGzip],
  ["x-gzip", unpackGzip],
  ["br", unpackBrotli],
]);

class Overflow extends Error {}

interface BodyOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Whatever it is packed as, it stays so. */
  readonly raw: boolean;
  /** How many bytes have come, unpacked. */
  onChunk(done: number): void;
}

/**
 * The body of an answer, bounded before and after it is unpacked: a small answer may unpack to an endless one. Rejects
 * when the connection fails or `signal` ends it.
 */
export async function readBody(
  response: IncomingMessage,
  { maxBytes, signal, raw, onChunk }: BodyOptions,
): Promise<Result<Body, EgressRefusal>> {
  const stated = raw ? undefined : response.headers["content-encoding"];
  const encoding = (stated ?? "identity").trim().toLowerCase();
  const unpack = UNPACK.get(encoding);
  if (unpack === undefined && encoding !== "identity" && encoding !== "") {
    response.destroy();
    const message = `The answer is packed as \`${encoding.slice(0, 40)}\`; only \`gzip\` and \`br\` are unpacked.`;
    return refuseEgress("media-type", message);
  }
  const plain = collect(maxBytes, onChunk);
  try {
    if (unpack === undefined) await pipeline(response, plain.take, { signal });
    else await pipeline(response, refuseMore(maxBytes), unpack(), plain.take, { signal });
  } catch (fault) {
    if (!(fault instanceof Overflow)) throw fault;
    if (!plain.isFull()) {
      return refuseEgress("too-large", `The packed answer has more than ${maxBytes} bytes.`);
    }
  }
  return done({ bytes: plain.bytes(), isCut: plain.isFull() });
}

function refuseMore(maxBytes: number): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      done(size > maxBytes ? new Overflow() : null, chunk);
    },
  });
}

interface Collector {
  take(source: AsyncIterable<Buffer>): Promise<void>;
  isFull(): boolean;
  bytes(): Buffer;
}

/** Keeps the first `maxBytes` and ends the stream behind them. */
function collect(maxBytes: number, onChunk: (done: number) => void): Collector {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    async take(source: AsyncIterable<Buffer>): Promise<void> {
      for await (const chunk of source) {
        chunks.push(chunk);
        size += chunk.length;
        onChunk(size);
        if (size > maxBytes) throw new Overflow();
      }
    },
    isFull: () => size > maxBytes,
    bytes: () => Buffer.concat(chunks).subarray(0, maxBytes),
  };
}
