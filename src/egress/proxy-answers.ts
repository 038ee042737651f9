/** What the proxy itself says to a client: plain text, and the end of the connection. */
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { cleanText } from "../disclose/clean-text.ts";
import type { EgressFault } from "./egress-fault.ts";

const PLAIN_TEXT = "text/plain; charset=utf-8";

/** What is left of the request is not read. */
export function answerRequest(response: ServerResponse, status: number, message: string): void {
  const body = bodyOf(message);
  const headers = { "content-type": PLAIN_TEXT, "content-length": body.length, connection: "close" };
  response.writeHead(status, headers).end(body);
}

/** Many clients show nothing of an answer to `CONNECT` but its first line. */
export function refuseTunnel(client: Socket, fault: EgressFault): void {
  const status = statusOf(fault);
  const body = bodyOf(fault.message);
  const lines = [
    `HTTP/1.1 ${status} ${status === 403 ? "Not Granted" : STATUS_CODES[status]}`,
    `Content-Type: ${PLAIN_TEXT}`,
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  client.write(`${lines.join("\r\n")}\r\n\r\n`);
  client.end(body);
}

export function statusOf({ reason }: EgressFault): 403 | 502 {
  return reason === "unresolved" || reason === "unreachable" ? 502 : 403;
}

function bodyOf(message: string): Buffer {
  return Buffer.from(`${cleanText(message).text}\n`);
}
