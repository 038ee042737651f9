/**
 * One plain HTTP request through the allow-list proxy, on a connection of its own: what belongs to a connection stays
 * behind, the `Host` is the one that was checked, and a body is framed anew, so that it cannot pass for a second request.
 */
import { type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";

/** Of one connection, not of the request; framing and `Host` are written anew. */
const NOT_PASSED_ON = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

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
    if (index % 2 === 1 || NOT_PASSED_ON.has(key) || own.has(key)) return [];
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
