/**
 * Connects to already checked addresses: the name is not resolved again, so its owner cannot answer differently the
 * second time. Provides the proxy's connection to a host, and a single request with its body.
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
  /** Checked each time: why nothing may go out right now, as a sentence. */
  whyHeld?(): string | undefined;
  /** Called after connecting to this host; nothing is sent before it returns. */
  onReach?(host: string): void | Promise<void>;
  onRefuse?(host: string, refusal: EgressRefusal): void;
}

interface ReachParts extends ReachOptions {
  readonly addresses: AddressBook;
  readonly dialMs: number;
  /** Stops dialing. */
  readonly signal: AbortSignal;
  /** Observes every connection. */
  track(connection: Socket): Socket;
}

/** `target` is a URL; a refusal or a failure is a value. */
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

/** Rejects if no address answers in time. */
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
    socket.on("error", reject); // Later errors belong to the user of the socket, but must not be unhandled.
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
 * The request: `Host` header and TLS name keep the host, certificates are checked, and no proxy, cookie, pooled
 * connection or credential is involved.
 */

const HEADERS = {
  "user-agent": `metier/${VERSION}`,
  accept: "text/html, application/json, text/plain, application/xml;q=0.9, */*;q=0.5",
};

interface PinnedRequest {
  /** Whether the answer may be compressed. Default: yes. */
  readonly packed?: boolean;
  /** Default: `GET`. */
  readonly method?: string;
  /** Override the default headers. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** How long nothing may arrive, in milliseconds. Default: as long as `signal` allows. */
  readonly idleMs?: number;
}

/** Rejects if there is no answer; the caller must read or destroy the body. */
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

/** With the error code that marks a retry as useful. */
function silent(idleMs = 0): Error {
  return Object.assign(new Error(`no data for ${idleMs} ms`), { code: "ETIMEDOUT" });
}

interface Body {
  readonly bytes: Buffer;
  /** The body is longer; the rest was not read. */
  readonly isCut: boolean;
}

type Unpack = () => Transform;

/** Returns what arrived of answers that end too early. */
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
  /** Keeps any compression. */
  readonly raw: boolean;
  /** Bytes received, after decompression. */
  onChunk(done: number): void;
}

/**
 * The body of an answer, bounded before and after decompression: a small answer may decompress to an endless one.
 * Rejects if the connection fails or `signal` aborts.
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
    const message = `The answer is compressed as \`${encoding.slice(0, 40)}\`; only \`gzip\` and \`br\` are supported.`;
    return refuseEgress("media-type", message);
  }
  const plain = collect(maxBytes, onChunk);
  try {
    if (unpack === undefined) await pipeline(response, plain.take, { signal });
    else await pipeline(response, refuseMore(maxBytes), unpack(), plain.take, { signal });
  } catch (fault) {
    if (!(fault instanceof Overflow)) throw fault;
    if (!plain.isFull()) {
      return refuseEgress("too-large", `The compressed answer has more than ${maxBytes} bytes.`);
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

/** Keeps the first `maxBytes` and ends the stream after them. */
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
