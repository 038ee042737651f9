/**
 * A `fetch` for one host only, for clients of a server that somebody else named: the host is checked for each request,
 * only checked addresses are dialed, and redirects are refused, since following one would leak the key. The answer is a
 * stream of bounded size.
 */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { isLoopbackAddress } from "@metier/base/net";
import { done, type Refused, type Result } from "@metier/base/result";
import {
  type AddressBook,
  checkDestination,
  type EgressRefusal,
  isNamedPrivate,
  refuseEgress,
  SYSTEM_ADDRESSES,
} from "./check-destination.ts";
import { requestPinned } from "./pinned.ts";

interface HostFetchOptions {
  /** Hosts listed by the operator: they may have a non-public address and use plain `http:`. */
  readonly privateHosts: readonly string[];
  /** Default: the machine's own resolver. */
  readonly addresses?: AddressBook;
}

/** Bytes of an answer: a stranger's server could write forever. */
const MOST_BYTES = 64 * 1024 * 1024;
const IDLE_MS = 300_000;
const NO_BODY = new Set([204, 205, 304]);

/** Nothing was sent: the destination is not allowed. */
export class EgressError extends Error {
  override readonly name = "EgressError";
  readonly refusal: EgressRefusal;
  constructor(refusal: EgressRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Whether this URL is allowed right now; checked again for each request. */
export async function checkReachable(
  baseUrl: string,
  options: HostFetchOptions,
): Promise<Result<undefined, EgressRefusal>> {
  const found = await findHost(baseUrl, baseUrl, options);
  return found.ok ? done(undefined) : found;
}

/** Rejects with `EgressError` if refused. */
export function createHostFetch(baseUrl: string, options: HostFetchOptions): typeof fetch {
  return async (input, init = {}) => {
    const target = input instanceof Request ? input.url : String(input);
    const found = await findHost(target, baseUrl, options);
    if (!found.ok) throw new EgressError(found.refusal);
    const { url, addresses } = found.value;
    init.signal?.throwIfAborted();
    const response = await requestPinned(url, addresses, init.signal ?? undefined, {
      packed: false,
      method: init.method ?? "GET",
      headers: Object.fromEntries(new Headers(init.headers)),
      body: readSent(init.body),
      idleMs: IDLE_MS,
    });
    return toResponse(response, url);
  };
}

interface FoundHost {
  readonly url: URL;
  readonly addresses: readonly string[];
}

async function findHost(
  target: string,
  baseUrl: string,
  { privateHosts, addresses: book = SYSTEM_ADDRESSES }: HostFetchOptions,
): Promise<Result<FoundHost, EgressRefusal>> {
  const base = URL.parse(baseUrl);
  const network = base === null ? [] : [base.host];
  const listed = { ...book, privateHosts, isPrivate: acceptListed(base?.hostname ?? "", book) };
  const checked = await checkDestination(target, network, listed);
  if (!checked.ok) return hideAddress(checked.refusal, URL.parse(target)?.host ?? "");
  const { url } = checked.value;
  if (url.protocol === "https:" || isNamedPrivate(url, privateHosts)) return checked;
  const message = `\`${url.host}\` would be contacted over plain \`http:\`, where others can read the key.`;
  return refuseEgress("insecure", `${message} Use \`https:\`.`);
}

/** Those who write names must not learn which ones exist in this network, or where they resolve to. */
function hideAddress(refusal: EgressRefusal, host: string): Refused<EgressRefusal> {
  const { reason, message } = refusal;
  const isAddress = reason === "private-address" || reason === "unresolved";
  return refuseEgress(reason, isAddress ? `\`${host}\` does not resolve to a public address.` : message);
}

/**
 * A listed name may resolve into a private network. This machine and other special addresses need an explicit entry:
 * `localhost`, or that very address. So the owner of a listed name cannot point it there.
 */
function acceptListed(
  hostname: string,
  { isPrivate = SYSTEM_ADDRESSES.isPrivate }: AddressBook,
): (address: string) => boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return (address) =>
    address === host ||
    (host === "localhost" && isLoopbackAddress(address)) ||
    (isPrivate?.(address) ?? false);
}

/** Model provider clients send text. */
function readSent(body: RequestInit["body"]): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  throw new TypeError("Only a string or bytes can be sent.");
}

function toResponse(incoming: IncomingMessage, url: URL): Response {
  const { statusCode: status = 0, headers } = incoming;
  const encoding = headers["content-encoding"] ?? "identity";
  if (status >= 300 && status < 400 && status !== 304) {
    incoming.destroy();
    const message = `\`${url.host}\` redirects, which is not followed. Use the address it redirects to.`;
    throw new EgressError({ reason: "redirects", message });
  }
  if (encoding !== "identity") {
    incoming.destroy();
    const message = `\`${url.host}\` compressed its answer as \`${encoding.slice(0, 40)}\`, which was not requested.`;
    throw new EgressError({ reason: "media-type", message });
  }
  const told = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) told.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  if (NO_BODY.has(status)) {
    incoming.resume();
    return new Response(null, { status, headers: told });
  }
  const body = Readable.toWeb(Readable.from(bounded(incoming, url))) as ReadableStream<Uint8Array>;
  return new Response(body, { status, headers: told });
}

async function* bounded(incoming: IncomingMessage, url: URL): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) {
      const message = `\`${url.host}\` returned more than ${MOST_BYTES} bytes.`;
      throw new EgressError({ reason: "too-large", message });
    }
    yield chunk;
  }
}
