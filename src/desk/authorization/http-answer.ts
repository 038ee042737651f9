/** Requests with a small form in them, and answers that no browser keeps, frames or takes for something else. */
import type { IncomingMessage, ServerResponse } from "node:http";

export interface HttpAnswer {
  readonly status: number;
  readonly type: "application/json" | "text/html; charset=utf-8";
  readonly body: string;
}

const MAX_FORM_BYTES = 10_000;

export function json(status: number, value: Readonly<Record<string, unknown>>): HttpAnswer {
  return { status, type: "application/json", body: `${JSON.stringify(value)}\n` };
}

/** RFC 6749, 5.2. */
export function oauthError(error: string, status = 400): HttpAnswer {
  return json(status, { error });
}

export function html(status: number, body: string): HttpAnswer {
  return { status, type: "text/html; charset=utf-8", body };
}

/** `undefined`: it is no form, or too large. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return undefined;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_FORM_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}

export function send(response: ServerResponse, { status, type, body }: HttpAnswer): void {
  response.writeHead(status, {
    "content-type": type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy":
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  });
  response.end(body);
}
