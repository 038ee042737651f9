/**
 * Waits on loopback for the browser that a sign-in sends back (RFC 8252), for one sign-in. Only addresses that carry its
 * `state` are passed on; whatever else asks gets a page that says nothing, and the wait goes on. Bounded in time and requests.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Answer, answerFault } from "../capability.ts";
import type { AuthFlow, CompletedAuth } from "../capability-broker.ts";
import { isSameState, readPasted } from "./read-answer.ts";

export interface CallbackListener {
  /** For `BeginRequest.redirectUri`. */
  readonly redirectUri: string;
  /** Gives what the browser brings to `complete`, until a sign-in is complete, denied or expired; then it closes. */
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
/** A page that sends something else than the answer must not end the wait for it. */
const GOES_ON: ReadonlySet<string> = new Set([
  "capability_auth_state_mismatch",
  "capability_auth_callback_invalid",
  "capability_auth_code_missing",
  "capability_auth_code_conflict",
]);

/** On an address and a port of this machine that nobody else has. Rejects when the system gives none. */
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
          const message = `No browser came for the sign-in \`${flow.flowId}\` in time.`;
          const late = answerFault("capability_auth_flow_expired", message, { hint: "Begin a new one." });
          const expire = setTimeout(() => settle(late), Math.max(0, remaining));
          server.once("close", () => {
            clearTimeout(expire);
            settle(answerFault("capability_cancelled", "Nobody waits for the browser any more."));
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
      setImmediate(() => settle(completed)); // After the page, which tells the user.
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

/** Under another name than its own, this address would be one that a page of the web made up for it. */
function readTarget({ method, url, headers }: IncomingMessage, origin: string): string | undefined {
  const target = URL.parse(url ?? "", origin);
  const isHere = target?.origin === origin && `http://${headers.host}` === origin;
  return isHere && method === "GET" && target.pathname === PATH ? target.href : undefined;
}

/** A provider that has a place of its own for the browser does not send it here. */
function whyElsewhere(
  { flowType, authUrl, flowId }: AuthFlow,
  redirectUri: string,
): Answer<never> | undefined {
  const sentTo = URL.parse(authUrl)?.searchParams.get("redirect_uri");
  if (flowType === "authorization_code" && (sentTo ?? redirectUri) === redirectUri) return undefined;
  const message = `The sign-in \`${flowId}\` does not send the browser to this machine, so nothing can be waited for.`;
  const hint =
    flowType === "device_code"
      ? "Poll it until it is complete."
      : "Complete it with the code or the address that the browser ends at.";
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

/** What is being sent may still arrive; connections that wait for nothing are ended. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
  });
}

/** What the browser shows at the end of a sign-in: status, title and text. Nothing of the request is in a page. */
const PAGES = {
  done: [200, "Signed in", "You can close this window."],
  denied: [200, "Not signed in", "Access was not granted. You can close this window."],
  failed: [500, "Not signed in", "The sign-in could not be completed. See the program that began it."],
  busy: [409, "One moment", "The sign-in is being completed."],
  early: [503, "One moment", "The sign-in has not begun yet."],
  other: [
    400,
    "Not this one",
    "This is not the answer that is waited for. Open the address of the sign-in again.",
  ],
  unknown: [404, "Nothing here", "There is nothing at this address."],
  tooMany: [429, "Too many requests", "Begin a new sign-in."],
} as const;

type PageName = keyof typeof PAGES;
