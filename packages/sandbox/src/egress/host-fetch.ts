/**
 * A `fetch` that reaches one host and no other, for clients that speak with a server somebody else has named: the host is
 * checked anew for each request, only the addresses that were checked are dialled, and redirects are refused, since
 * whoever follows one takes the key along. The answer is a stream, bounded in size.
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
  /** Hosts that the operator listed: they may have an address that is not public, and may be asked over plain `http:`. */
  readonly privateHosts: readonly string[];
  /** Default: the machine's own. */
  readonly addresses?: AddressBook;
}

/** Of an answer, in bytes: a server of a stranger could write for ever. */
const MOST_BYTES = 64 * 1024 * 1024;
const IDLE_MS = 300_000;
const NO_BODY = new Set([204, 205, 304]);

/** Nothing was sent: where it would go is not allowed. */
export class EgressError extends Error {
  override readonly name = "EgressError";
  readonly refusal: EgressRefusal;
  constructor(refusal: EgressRefusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** Whether this address may be asked, as of now; it is asked again for each request. */
export async function checkReachable(
  baseUrl: string,
  options: HostFetchOptions,
): Promise<Result<undefined, EgressRefusal>> {
  const found = await findHost(baseUrl, baseUrl, options);
  return found.ok ? done(undefined) : found;
}

/** Rejects with `EgressError` for what is refused. */
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
  const message = `\`${url.host}\` would be asked over plain \`http:\`, where others can read the key.`;
  return refuseEgress("insecure", `${message} Write \`https:\`.`);
}

/** What names of this network lead to, and whether there are such, is not for those who write them to learn. */
function hideAddress(refusal: EgressRefusal, host: string): Refused<EgressRefusal> {
  const { reason, message } = refusal;
  const isAddress = reason === "private-address" || reason === "unresolved";
  return refuseEgress(reason, isAddress ? `\`${host}\` does not lead to a public address.` : message);
}

/**
 * A name that is listed may lead into a private network. To this machine, or to any other special address, only what says so
 * itself does: `localhost`, or that very address. So nobody who owns a listed name leads it there.
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

/** Clients of model providers send text. */
function readSent(body: RequestInit["body"]): string | Uint8Array | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === "string" || body instanceof Uint8Array) return body;
  throw new TypeError("Only a text or bytes can be sent.");
}

function toResponse(incoming: IncomingMessage, url: URL): Response {
  const { statusCode: status = 0, headers } = incoming;
  const encoding = headers["content-encoding"] ?? "identity";
  if (status >= 300 && status < 400 && status !== 304) {
    incoming.destroy();
    const message = `\`${url.host}\` redirects elsewhere, which is not followed. Write the address that it leads to.`;
    throw new EgressError({ reason: "redirects", message });
  }
  if (encoding !== "identity") {
    incoming.destroy();
    const message = `\`${url.host}\` answered packed as \`${encoding.slice(0, 40)}\`, which was not asked for.`;
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
      const message = `\`${url.host}\` answered with more than ${MOST_BYTES} bytes.`;
      throw new EgressError({ reason: "too-large", message });
    }
    yield chunk;
  }
}
