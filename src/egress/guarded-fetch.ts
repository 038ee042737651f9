/**
 * The one way out: a URL is checked, resolved and fetched from exactly the addresses that were checked, and so is every
 * redirect. Bounded in time, size and number of redirects. Refusals and failures are values.
 */
import type { IncomingMessage } from "node:http";
import { showPath } from "../host/contained-path.ts";
import { checkDestination } from "./check-destination.ts";
import { type EgressFault, refuseEgress } from "./egress-fault.ts";
import { readBody } from "./read-body.ts";
import { requestPinned } from "./request-pinned.ts";
import { type AddressBook, SYSTEM_ADDRESSES } from "./resolve-public.ts";

export interface FetchLimits {
  /** For everything together: resolving, redirects, the body. Default: 20 seconds. */
  readonly timeoutMs?: number;
  /** How long a server may send nothing. Default: as long as everything may take. */
  readonly idleMs?: number;
  /** Of the body, packed and unpacked; an unpacked one that is longer is cut. Default: 2 MiB. */
  readonly maxBytes?: number;
}

export interface FetchOptions extends FetchLimits {
  /** Granted domains; none means that everything is refused. */
  readonly network: readonly string[];
  readonly signal?: AbortSignal;
  /** Whether a body of this media type (lower case, empty when not stated) is wanted. Default: any. */
  accepts?(mediaType: string): boolean;
  /** Refuses plain `http:`, also in redirects: someone between here and there could answer instead. */
  readonly secure?: boolean;
  /** The body byte for byte as it is kept: no packing is asked for, and none is undone. */
  readonly raw?: boolean;
  /** As the body comes: how many bytes are there, and of how many, where the server says so. */
  onBytes?(done: number, total: number | undefined): void;
}

export interface FetchedAnswer {
  readonly ok: true;
  readonly status: number;
  /** After redirects. */
  readonly url: string;
  /** Lower case, without parameters; empty when the server stated none. */
  readonly mediaType: string;
  readonly charset?: string;
  readonly bytes: Buffer;
  /** The body was longer than `maxBytes`. */
  readonly isCut: boolean;
}

export type FetchOutcome = FetchedAnswer | EgressFault;

const TIMEOUT_MS = 20_000;
const MAX_BYTES: number = 2 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export async function guardedFetch(
  url: string,
  options: FetchOptions,
  addresses: AddressBook = SYSTEM_ADDRESSES,
): Promise<FetchOutcome> {
  const { timeoutMs = TIMEOUT_MS, idleMs = timeoutMs, signal } = options;
  const stop = new AbortController();
  const cancel = (): void => stop.abort(refuseEgress("cancelled", "The request was cancelled."));
  const expire = (): void =>
    stop.abort(refuseEgress("timeout", `${showPath(url)} took longer than ${timeoutMs} ms.`));
  const timer = setTimeout(expire, timeoutMs);
  const fallSilent = (): void =>
    stop.abort(refuseEgress("timeout", `${showPath(url)} sent nothing for ${idleMs} ms.`));
  const silence = setTimeout(fallSilent, idleMs);
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted) cancel();
  try {
    const { signal: stopped } = stop;
    const hear = (): void => void (stopped.aborted || silence.refresh());
    const link: Link = { addresses, signal: stopped, hear };
    return await Promise.race([follow(url, options, link), rejectOnAbort(stopped)]);
  } catch (fault) {
    if (stop.signal.aborted) return stop.signal.reason as EgressFault;
    return refuseEgress("unreachable", `${showPath(url)} could not be fetched: ${describeFault(fault)}.`);
  } finally {
    clearTimeout(timer);
    clearTimeout(silence);
    signal?.removeEventListener("abort", cancel);
    stop.abort(); // Nothing of the request outlives it.
  }
}

/** What all parts of one request share. */
interface Link {
  readonly addresses: AddressBook;
  readonly signal: AbortSignal;
  /** The server sent something. */
  hear(): void;
}

async function follow(start: string, options: FetchOptions, link: Link): Promise<FetchOutcome> {
  let target = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const hop = await openHop(target, options, link);
    link.hear();
    if (!hop.ok) return redirects === 0 ? hop : afterRedirect(start, hop);
    const next = redirectOf(hop.response, hop.url);
    if (next === undefined) return takeAnswer(hop.response, hop.url, options, link);
    hop.response.destroy();
    target = next;
  }
  return refuseEgress("redirects", `${showPath(start)} redirects more than ${MAX_REDIRECTS} times.`);
}

type Hop = { readonly ok: true; readonly response: IncomingMessage; readonly url: URL } | EgressFault;

async function openHop(
  target: string,
  { network, secure = false, raw = false }: FetchOptions,
  { addresses: book, signal }: Link,
): Promise<Hop> {
  const checked = await checkDestination(target, network, book);
  if (!checked.ok) return checked;
  const { url, addresses } = checked;
  if (secure && url.protocol !== "https:" && !addresses.every(isLoopback)) {
    return refuseEgress(
      "insecure",
      `${showPath(target)} is plain \`http:\`, which anyone on the way can change.`,
    );
  }
  signal.throwIfAborted();
  return { ok: true, response: await requestPinned(url, addresses, signal, { packed: !raw }), url };
}

/** Nobody is on the way to this machine itself; the gate lets only tests go there. */
function isLoopback(address: string): boolean {
  return address === "::1" || address.startsWith("127.");
}

/** Absolute where it can be made so; what it is then is for the check to say. */
function redirectOf({ statusCode = 0, headers }: IncomingMessage, base: URL): string | undefined {
  if (!REDIRECTS.has(statusCode) || headers.location === undefined) return undefined;
  return URL.parse(headers.location, base.href)?.href ?? headers.location;
}

function afterRedirect(start: string, { reason, message }: EgressFault): EgressFault {
  return refuseEgress(reason, `${showPath(start)} redirects to a place that is refused: ${message}`);
}

async function takeAnswer(
  response: IncomingMessage,
  url: URL,
  { accepts, maxBytes = MAX_BYTES, raw = false, onBytes }: FetchOptions,
  { signal, hear }: Link,
): Promise<FetchOutcome> {
  const [type = "", ...parameters] = (response.headers["content-type"] ?? "").split(";");
  const mediaType = type.trim().toLowerCase();
  if (accepts && !accepts(mediaType)) {
    response.destroy();
    return refuseEgress(
      "media-type",
      `\`${url.host}\` answered with ${showPath(mediaType)}, which is not text.`,
    );
  }
  const total = Number(response.headers["content-length"]) || undefined;
  const onChunk = (done: number): void => {
    hear();
    onBytes?.(done, total);
  };
  const body = await readBody(response, { maxBytes, signal, raw, onChunk });
  if (!body.ok) return body;
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^\s"]+)/i.exec(parameter)?.[1])
    .find((value) => value !== undefined);
  const { bytes, isCut } = body;
  const status = response.statusCode ?? 0;
  return { ok: true, status, url: url.href, mediaType, ...(charset && { charset }), bytes, isCut };
}

/** A resolver does not listen to signals. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function describeFault(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const { code } = fault as NodeJS.ErrnoException;
  if (fault instanceof AggregateError) return `no address of it answers (${code ?? "unknown fault"})`;
  return code === undefined || fault.message.includes(code) ? fault.message : `${fault.message} (${code})`;
}
