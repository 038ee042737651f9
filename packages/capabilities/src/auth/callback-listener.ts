/**
 * Waits on loopback for the browser that a sign-in redirects back (RFC 8252), for one sign-in. Passes on only addresses
 * with its `state`; every other request gets a page without information, and the wait continues. Bounded in time and
 * requests.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Answer, answerFault } from "../capability.ts";
import type { AuthFlow, CompletedAuth } from "../capability-broker.ts";
import { isSameState, readPasted } from "./read-answer.ts";

export interface CallbackListener {
  /** For `BeginRequest.redirectUri`. */
  readonly redirectUri: string;
  /** Passes what the browser brings to `complete` until the sign-in is complete, denied or expired; then it closes. */
  complete(
    flow: AuthFlow,
    complete: (callbackUrl: string) => Promise<Answer<CompletedAuth>>,
    signal?: AbortSignal,
  ): Promise<Answer<CompletedAuth>>;
  close(): Promise<void>;
}

const PATH = "/callback";
const MAX_REQUESTS = 200;
const REQUEST_MS = 10_000;
const MAX_HEADER_BYTES = 16_384;
const MAX_CONNECTIONS = 16;
/** A page that sends anything other than the answer must not end the wait. */
const GOES_ON: ReadonlySet<string> = new Set([
  "capability_auth_state_mismatch",
  "capability_auth_callback_invalid",
  "capability_auth_code_missing",
  "capability_auth_code_conflict",
]);

/** Listens on a free address and port of this machine. Rejects if the system provides none. */
export async function openCallbackListener(): Promise<CallbackListener> {
  let answer: (request: IncomingMessage) => Promise<PageName> = async () => "early";
  let requests = 0;
  const server = createServer(
    { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS },
    async (request, response) => {
      request.resume();
      requests++;
      send(response, requests > MAX_REQUESTS ? "tooMany" : await answer(request));
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server);
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const redirectUri = origin + PATH;
  return {
    redirectUri,
    async complete(flow, complete, signal) {
      const elsewhere = whyElsewhere(flow, redirectUri);
      try {
        if (elsewhere) return elsewhere;
        return await new Promise<Answer<CompletedAuth>>((settle, fail) => {
          answer = createReceiver({ flow, origin, complete, settle, fail });
          const remaining = Date.parse(flow.expiresAt) - Date.now();
          const message = `No browser answered the sign-in \`${flow.flowId}\` in time.`;
          const late = answerFault("capability_auth_flow_expired", message, { hint: "Start a new one." });
          const expire = setTimeout(() => settle(late), Math.max(0, remaining));
          server.once("close", () => {
            clearTimeout(expire);
            settle(answerFault("capability_cancelled", "Nobody is waiting for the browser anymore."));
          });
          signal?.addEventListener("abort", () => void close(server), { once: true });
          if (signal?.aborted) void close(server);
        });
      } finally {
        await close(server);
      }
    },
    close: () => close(server),
  };
}

interface Receiver {
  readonly flow: AuthFlow;
  readonly origin: string;
  complete(callbackUrl: string): Promise<Answer<CompletedAuth>>;
  settle(answer: Answer<CompletedAuth>): void;
  fail(error: unknown): void;
}

/** One answer at a time: a browser may load a page twice. */
function createReceiver({ flow, origin, complete, settle, fail }: Receiver) {
  const expected = URL.parse(flow.authUrl)?.searchParams.get("state") ?? undefined;
  let isBusy = false;
  const receive = async (callbackUrl: string): Promise<PageName> => {
    try {
      const completed = await complete(callbackUrl);
      if (!completed.ok && GOES_ON.has(completed.fault.code)) return "other";
      setImmediate(() => settle(completed)); // After the page, which informs the user.
      if (completed.ok) return "done";
      return completed.fault.code === "capability_auth_flow_denied" ? "denied" : "failed";
    } catch (error) {
      setImmediate(() => fail(error));
      return "failed";
    }
  };
  return async (request: IncomingMessage): Promise<PageName> => {
    const url = readTarget(request, origin);
    if (url === undefined) return "unknown";
    if (expected !== undefined && !isSameState(readPasted(url).state ?? "", expected)) return "other";
    if (isBusy) return "busy";
    isBusy = true;
    try {
      return await receive(url);
    } finally {
      isBusy = false;
    }
  };
}

/** Any other host name could be a DNS name that a web page points at this address. */
function readTarget({ method, url, headers }: IncomingMessage, origin: string): string | undefined {
  const target = URL.parse(url ?? "", origin);
  const isHere = target?.origin === origin && `http://${headers.host}` === origin;
  return isHere && method === "GET" && target.pathname === PATH ? target.href : undefined;
}

/** A provider with its own redirect address does not send the browser here. */
function whyElsewhere(
  { flowType, authUrl, flowId }: AuthFlow,
  redirectUri: string,
): Answer<never> | undefined {
  const sentTo = URL.parse(authUrl)?.searchParams.get("redirect_uri");
  if (flowType === "authorization_code" && (sentTo ?? redirectUri) === redirectUri) return undefined;
  const message = `The sign-in \`${flowId}\` does not send the browser to this machine, so there is nothing to wait for.`;
  const hint =
    flowType === "device_code"
      ? "Poll it until it is complete."
      : "Complete it with the code, or with the address where the browser ends up.";
  return answerFault("capability_invalid_input", message, { hint });
}

function send(response: ServerResponse, name: PageName): void {
  const [status, title, text] = PAGES[name];
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    connection: "close",
  });
  response.end(
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${text}</p></html>\n`,
  );
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0 }, resolve);
  });
}

/** Lets pending output arrive; closes idle connections. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

/** The page a browser shows at the end of a sign-in: status, title and text. It contains nothing from the request. */
const PAGES = {
  done: [200, "Signed in", "You can close this window."],
  denied: [200, "Not signed in", "Access was denied. You can close this window."],
  failed: [500, "Not signed in", "The sign-in could not be completed. Check the program that started it."],
  busy: [409, "One moment", "Completing the sign-in."],
  early: [503, "One moment", "The sign-in has not started yet."],
  other: [400, "Wrong sign-in", "This is not the expected answer. Open the sign-in address again."],
  unknown: [404, "Not found", "There is nothing at this address."],
  tooMany: [429, "Too many requests", "Start a new sign-in."],
} as const;

type PageName = keyof typeof PAGES;
