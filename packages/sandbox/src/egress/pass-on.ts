/**
 * What the allow-list proxy forwards. A plain HTTP request gets its own connection: hop-by-hop headers stay behind, the
 * `Host` is the checked one, and a body is framed again, so that it cannot pass as a second request.
 */
import { type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { isAddress } from "./check-destination.ts";

/** Belongs to a connection, not to the request; framing and `Host` are rewritten. */
const NOT_PASSED_ON = `connection content-length expect host keep-alive proxy-authenticate proxy-authorization
  proxy-connection te trailer transfer-encoding upgrade`.split(/\s+/);

/** Why a request cannot be forwarded, as a sentence. */
export function whyNotForwarded({ headers }: IncomingMessage): string | undefined {
  const coding = headers["transfer-encoding"];
  if (coding === undefined || coding.trim().toLowerCase() === "chunked") return undefined;
  return "Send a body with `Transfer-Encoding: chunked` or `Content-Length`; nothing else is supported.";
}

/** `upstream` is used only for this request. Rejects if it does not answer. */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  upstream: Socket,
): Promise<void> {
  const framing = framingOf(request);
  return new Promise((resolve, reject) => {
    const sent = requestHttp({
      method: request.method ?? "GET",
      path: `${url.pathname}${url.search}`,
      headers: [...passedOn(request), "Host", url.host, "Connection", "close", ...framing],
      createConnection: () => upstream,
    });
    sent.on("error", reject); // Also errors after an answer, which would otherwise be unhandled.
    sent.once("response", (answer) => {
      try {
        const headers = [...passedOn(answer), ...lengthOf(answer), "Connection", "close"];
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", headers);
      } catch (fault) {
        return reject(fault); // Headers that no server may send.
      }
      pipeline(answer, response, () => resolve()); // If the answer breaks off, it breaks off for the client too.
    });
    response.once("close", () => sent.destroy());
    if (framing.length === 0) sent.end();
    else pipeline(request, sent, () => undefined); // Its error is emitted by `sent`.
  });
}

/** Name, value, name, value …, without those named by the `Connection` header. */
function passedOn({ rawHeaders, headers }: IncomingMessage): readonly string[] {
  const own = new Set((headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
  return rawHeaders.flatMap((name, index) => {
    const key = name.toLowerCase();
    if (index % 2 === 1 || NOT_PASSED_ON.includes(key) || own.has(key)) return [];
    return [name, rawHeaders[index + 1] ?? ""];
  });
}

/** Without framing there is no body, whatever follows. */
function framingOf(request: IncomingMessage): readonly string[] {
  if (request.headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", "chunked"];
  return lengthOf(request);
}

function lengthOf({ headers }: IncomingMessage): readonly string[] {
  const length = headers["content-length"];
  return length === undefined || headers["transfer-encoding"] !== undefined ? [] : ["Content-Length", length];
}

/*
 * Handles a `CONNECT` tunnel. TLS passes untouched, but only to the checked host: a `ClientHello` for another one could
 * reach every site that shares its addresses. The proxy handles plain HTTP itself. TLS content stays hidden, so a
 * granted host that forwards requests to others cannot be detected.
 */

type TunnelBeginning =
  | { readonly kind: "tls"; readonly serverName?: string }
  /** Anything else, or TLS without a recognizable greeting. */
  | { readonly kind: "plain" }
  | { readonly kind: "closed" };

const MAX_BEGINNING = 32_768;
/** A fatal alert, `unrecognized_name`, which the client's own library reports. */
const WRONG_NAME = Buffer.from([0x15, 3, 3, 0, 2, 2, 112]);

/** Reads until the client's protocol is clear, and puts everything back. */
export function readBeginning(client: Socket): Promise<TunnelBeginning> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const finish = (beginning: TunnelBeginning): void => {
      client.off("data", take).off("end", closed).off("close", closed).pause();
      if (beginning.kind !== "closed") client.unshift(bytes);
      resolve(beginning);
    };
    const closed = (): void => finish({ kind: "closed" });
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      const hello = readClientHello(bytes);
      if (hello.kind === "incomplete" && bytes.length <= MAX_BEGINNING) return;
      if (hello.kind === "hello") finish({ ...hello, kind: "tls" });
      else finish({ kind: "plain" });
    };
    if (client.destroyed || client.readableEnded) return closed();
    client.on("data", take).once("end", closed).once("close", closed);
  });
}

/** TLS has no names for addresses; a host must match its own. */
export function isMeantFor({ hostname }: URL, serverName: string | undefined): boolean {
  return serverName === (isAddress(hostname) ? undefined : hostname);
}

export function refuseName(client: Socket): void {
  client.end(WRONG_NAME);
}

/** Both directions, each until its own end; a side that breaks off ends the other. */
export function splice(client: Socket, upstream: Socket): void {
  passOn(client, upstream);
  passOn(upstream, client);
}

function passOn(from: Socket, to: Socket): void {
  from.pipe(to);
  from.once("close", () => {
    if (!(from.readableEnded && from.writableFinished)) to.destroy();
  });
}

/**
 * Reads the host from a connection's first TLS message. Only inspected, never changed and never trusted: anything but a
 * complete `ClientHello` counts as none.
 */
type ClientHello =
  /** It could be one so far. */
  | { readonly kind: "incomplete" }
  | { readonly kind: "none" }
  /** `serverName` in lowercase; absent if none is named. */
  | { readonly kind: "hello"; readonly serverName?: string };

const HANDSHAKE = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const RECORD_HEADER = 5;
const MESSAGE_HEADER = 4;
/** For one record; nobody sends a longer message in several records. */
const MAX_RECORD = 16_384;
const RANDOM_BYTES = 32;

const INCOMPLETE: ClientHello = { kind: "incomplete" };
const NONE: ClientHello = { kind: "none" };

export function readClientHello(bytes: Buffer): ClientHello {
  if (bytes.length === 0) return INCOMPLETE;
  if (bytes[0] !== HANDSHAKE || (bytes.length > 1 && bytes[1] !== 3)) return NONE;
  if (bytes.length < RECORD_HEADER) return INCOMPLETE;
  const length = bytes.readUInt16BE(3);
  if (length < MESSAGE_HEADER || length > MAX_RECORD) return NONE;
  if (bytes.length < RECORD_HEADER + length) return INCOMPLETE;
  const record = bytes.subarray(RECORD_HEADER, RECORD_HEADER + length);
  if (record[0] !== CLIENT_HELLO || record.readUIntBE(1, 3) !== length - MESSAGE_HEADER) return NONE;
  try {
    return readExtensions(record.subarray(MESSAGE_HEADER));
  } catch {
    return NONE; // A length in it points past its end.
  }
}

function readExtensions(message: Buffer): ClientHello {
  let at = 2 + RANDOM_BYTES;
  at += 1 + message.readUInt8(at); // session
  at += 2 + message.readUInt16BE(at); // ciphers
  at += 1 + message.readUInt8(at); // compression
  if (at === message.length) return { kind: "hello" };
  const end = at + 2 + message.readUInt16BE(at);
  at += 2;
  if (end !== message.length) return NONE;
  let serverName: string | undefined;
  while (at < end) {
    const type = message.readUInt16BE(at);
    const next = at + 4 + message.readUInt16BE(at + 2);
    if (next > end) return NONE;
    if (type === SERVER_NAME) {
      if (serverName !== undefined) return NONE;
      serverName = readServerName(message.subarray(at + 4, next));
    }
    at = next;
  }
  return serverName === undefined ? { kind: "hello" } : { kind: "hello", serverName };
}

/** A list with one name, as everyone writes it. Anything else yields a name that no host has. */
function readServerName(list: Buffer): string {
  const length = list.readUInt16BE(3);
  const isOne = list.readUInt16BE(0) === list.length - 2 && list[2] === 0 && length === list.length - 5;
  return isOne ? list.toString("latin1", 5).toLowerCase() : "";
}
