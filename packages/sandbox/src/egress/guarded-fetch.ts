/**
 * Fetches a URL through the egress gate: it is checked, resolved and fetched from exactly the checked addresses, and so
 * is every redirect. Bounded in time, size and redirects. Refusals and failures are values.
 */
import type { IncomingMessage } from "node:http";
import { showPath } from "@metier/base/files";
import { isLoopbackAddress } from "@metier/base/net";
import { done, type Refused, type Result } from "@metier/base/result";
import {
  type AddressBook,
  checkDestination,
  type EgressRefusal,
  refuseEgress,
  SYSTEM_ADDRESSES,
} from "./check-destination.ts";
import { readBody, requestPinned } from "./pinned.ts";

export interface FetchLimits {
  /** For everything: resolving, redirects, the body. Default: 20 seconds. */
  readonly timeoutMs?: number;
  /** How long a server may send nothing. Default: the overall limit. */
  readonly idleMs?: number;
  /** For the body, compressed and decompressed; a longer decompressed one is truncated. Default: 2 MiB. */
  readonly maxBytes?: number;
}

interface FetchOptions extends FetchLimits {
  /** Granted domains; without any, everything is refused. */
  readonly network: readonly string[];
  readonly signal?: AbortSignal;
  /** Whether to accept a body of this media type (lowercase, empty if not stated). Default: any. */
  accepts?(mediaType: string): boolean;
  /** Refuses plain `http:`, also in redirects: someone on the network path could answer instead. */
  readonly secure?: boolean;
  /** Returns the body byte for byte: requests no compression and undoes none. */
  readonly raw?: boolean;
  /** Reports progress: bytes received, and the total if the server states it. */
  onBytes?(done: number, total: number | undefined): void;
}

export interface FetchedAnswer {
  readonly status: number;
  /** After redirects. */
  readonly url: string;
  /** Lowercase, without parameters; empty if the server stated none. */
  readonly mediaType: string;
  readonly charset?: string | undefined;
  readonly bytes: Buffer;
  /** The body was longer than `maxBytes`. */
  readonly isCut: boolean;
}

export type FetchResult = Result<FetchedAnswer, EgressRefusal>;

const TIMEOUT_MS = 20_000;
const MAX_BYTES: number = 2 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export async function guardedFetch(
  url: string,
  options: FetchOptions,
  addresses: AddressBook = SYSTEM_ADDRESSES,
): Promise<FetchResult> {
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
    if (stop.signal.aborted) return stop.signal.reason as Refused<EgressRefusal>;
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

async function follow(start: string, options: FetchOptions, link: Link): Promise<FetchResult> {
  let target = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const hop = await openHop(target, options, link);
    link.hear();
    if (!hop.ok && redirects === 0) return hop;
    if (!hop.ok) {
      const { reason, message } = hop.refusal;
      return refuseEgress(reason, `${showPath(start)} redirects to a refused address: ${message}`);
    }
    const { response, url } = hop.value;
    const next = redirectOf(response, url);
    if (next === undefined) return takeAnswer(response, url, options, link);
    response.destroy();
    target = next;
  }
  return refuseEgress("redirects", `${showPath(start)} redirects more than ${MAX_REDIRECTS} times.`);
}

async function openHop(
  target: string,
  { network, secure = false, raw = false }: FetchOptions,
  { addresses: book, signal }: Link,
): Promise<Result<{ readonly response: IncomingMessage; readonly url: URL }, EgressRefusal>> {
  const checked = await checkDestination(target, network, book);
  if (!checked.ok) return checked;
  const { url, addresses } = checked.value;
  // Nobody is between us and this machine; the gate lets only tests go there.
  if (secure && url.protocol !== "https:" && !addresses.every(isLoopbackAddress)) {
    return refuseEgress(
      "insecure",
      `${showPath(target)} is plain \`http:\`, which anyone on the network path can change.`,
    );
  }
  signal.throwIfAborted();
  return done({ response: await requestPinned(url, addresses, signal, { packed: !raw }), url });
}

/** Absolute if possible; the check decides what it is. */
function redirectOf({ statusCode = 0, headers }: IncomingMessage, base: URL): string | undefined {
  if (!REDIRECTS.has(statusCode) || headers.location === undefined) return undefined;
  return URL.parse(headers.location, base.href)?.href ?? headers.location;
}

async function takeAnswer(
  response: IncomingMessage,
  url: URL,
  { accepts, maxBytes = MAX_BYTES, raw = false, onBytes }: FetchOptions,
  { signal, hear }: Link,
): Promise<FetchResult> {
  const [type = "", ...parameters] = (response.headers["content-type"] ?? "").split(";");
  const mediaType = type.trim().toLowerCase();
  if (accepts && !accepts(mediaType)) {
    response.destroy();
    return refuseEgress("media-type", `\`${url.host}\` returned ${showPath(mediaType)}, which is not text.`);
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
  const { bytes, isCut } = body.value;
  const status = response.statusCode ?? 0;
  return done({ status, url: url.href, mediaType, charset, bytes, isCut });
}

/** A resolver ignores abort signals. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function describeFault(fault: unknown): string {
  if (!(fault instanceof Error)) return String(fault);
  const { code } = fault as NodeJS.ErrnoException;
  if (fault instanceof AggregateError) return `none of its addresses answers (${code ?? "unknown fault"})`;
  return code === undefined || fault.message.includes(code) ? fault.message : `${fault.message} (${code})`;
}
