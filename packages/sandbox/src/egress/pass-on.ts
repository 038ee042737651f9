/**
 * What the allow-list proxy passes on. A plain HTTP request has a connection of its own: what belongs to a connection stays
 * behind, the `Host` is the one that was checked, and a body is framed anew, so that it cannot pass for a second request.
 */
import { type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { isAddress } from "./check-destination.ts";

/** Of one connection, not of the request; framing and `Host` are written anew. */
const NOT_PASSED_ON = `connection content-length expect host keep-alive proxy-authenticate proxy-authorization
  proxy-connection te trailer transfer-encoding upgrade`.split(/\s+/);

/** What makes a request impossible to pass on, in a sentence. */
export function whyNotForwarded({ headers }: IncomingMessage): string | undefined {
  const coding = headers["transfer-encoding"];
  if (coding === undefined || coding.trim().toLowerCase() === "chunked") return undefined;
  return "A body can be sent as `Transfer-Encoding: chunked` or with `Content-Length`, and in no other way.";
}

/** `upstream` is used for this request alone. Rejects when it gives no answer. */
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
    sent.on("error", reject); // Also those that come after an answer, which must not be nobody's.
    sent.once("response", (answer) => {
      try {
        const headers = [...passedOn(answer), ...lengthOf(answer), "Connection", "close"];
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage ?? "", headers);
      } catch (fault) {
        return reject(fault); // Headers that no server may send.
      }
      pipeline(answer, response, () => resolve()); // One that breaks off is broken off for the client as well.
    });
    response.once("close", () => sent.destroy());
    if (framing.length === 0) sent.end();
    else pipeline(request, sent, () => undefined); // Its fault is an `error` of `sent`.
  });
}

/** Name, value, name, value …, without what the `Connection` header names as its own. */
function passedOn({ rawHeaders, headers }: IncomingMessage): readonly string[] {
  const own = new Set((headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
  return rawHeaders.flatMap((name, index) => {
    const key = name.toLowerCase();
    if (index % 2 === 1 || NOT_PASSED_ON.includes(key) || own.has(key)) return [];
    return [name, rawHeaders[index + 1] ?? ""];
  });
}

/** No framing means no body, whatever follows. */
function framingOf(request: IncomingMessage): readonly string[] {
  if (request.headers["transfer-encoding"] !== undefined) return ["Transfer-Encoding", "chunked"];
  return lengthOf(request);
}

function lengthOf({ headers }: IncomingMessage): readonly string[] {
  const length = headers["content-length"];
  return length === undefined || headers["transfer-encoding"] !== undefined ? [] : ["Content-Length", length];
}

/*
 * What goes through a `CONNECT` tunnel. TLS is passed on untouched, but only to the host that was checked: a `ClientHello`
 * that names another one could reach every site that shares its addresses. Plain HTTP is for the proxy to read instead.
 * What is said inside TLS stays hidden: a granted host that itself passes requests on to others cannot be told apart.
 */

type TunnelBeginning =
  | { readonly kind: "tls"; readonly serverName?: string }
  /** Something else, or a TLS that does not say what it is. */
  | { readonly kind: "plain" }
  | { readonly kind: "closed" };

const MAX_BEGINNING = 32_768;
/** A fatal alert, `unrecognized_name`: the client's own library says so in its words. */
const WRONG_NAME = Buffer.from([0x15, 3, 3, 0, 2, 2, 112]);

/** Reads until it is clear what the client speaks, and puts all of it back. */
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

/** Addresses have no name in TLS; a host has its own. */
export function isMeantFor({ hostname }: URL, serverName: string | undefined): boolean {
  return serverName === (isAddress(hostname) ? undefined : hostname);
}

export function refuseName(client: Socket): void {
  client.end(WRONG_NAME);
}

/** Both ways, each until its own end; a side that breaks off ends the other at once. */
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
 * The first message of a TLS connection, as far as it says for which host it is meant. Only looked at, never changed, and
 * never trusted: whatever is not plainly a whole `ClientHello` is none.
 */
type ClientHello =
  /** So far it could be one. */
  | { readonly kind: "incomplete" }
  | { readonly kind: "none" }
  /** `serverName` in lower case; absent when none is named. */
  | { readonly kind: "hello"; readonly serverName?: string };

const HANDSHAKE = 0x16;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const RECORD_HEADER = 5;
const MESSAGE_HEADER = 4;
/** Of one record; a longer message, in several records, is sent by nobody. */
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
    return NONE; // A length in it leads beyond its end.
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

/** A list that holds one name, as everyone writes it. Anything else gives a name that no host has. */
function readServerName(list: Buffer): string {
  const length = list.readUInt16BE(3);
  const isOne = list.readUInt16BE(0) === list.length - 2 && list[2] === 0 && length === list.length - 5;
  return isOne ? list.toString("latin1", 5).toLowerCase() : "";
}
