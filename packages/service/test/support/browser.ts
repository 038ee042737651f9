/** What a browser does with a service: it keeps cookies, says its origin, and brings the token of its page with changes. */
import { request } from "node:http";
import type { JsonObject } from "@metier/base/json";

export interface BrowserReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly text: string;
  readonly body: JsonObject & { readonly error?: JsonObject };
}

interface SendOptions {
  readonly body?: JsonObject;
  /** Over what a browser would send; `undefined` takes a header away. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export interface Browser {
  readonly jar: Map<string, string>;
  /** Of the page, once it has asked `/v1/me` or signed in. */
  csrf: string | undefined;
  send(method: string, path: string, options?: SendOptions): Promise<BrowserReply>;
  signIn(key: string): Promise<BrowserReply>;
}

export function openBrowser(url: string): Browser {
  const { hostname, port, origin } = new URL(url);
  const jar = new Map<string, string>();
  const browser: Browser = {
    jar,
    csrf: undefined,
    async send(method, path, { body, headers = {} } = {}) {
      const isChange = method !== "GET" && method !== "HEAD";
      const usual = {
        ...(jar.size > 0 && { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") }),
        ...(isChange && { origin }),
        ...(isChange && browser.csrf !== undefined && { "x-metier-csrf": browser.csrf }),
      };
      const given = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== undefined);
      const reply = await new Promise<BrowserReply>((resolve, reject) => {
        const sent = request(
          {
            hostname,
            port,
            method,
            path,
            agent: false,
            headers: Object.fromEntries(given) as Record<string, string>,
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () => {
              const text = Buffer.concat(chunks).toString("utf8");
              const isJson = response.headers["content-type"]?.startsWith("application/json") ?? false;
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                text,
                body: isJson && text !== "" ? JSON.parse(text) : {},
              });
            });
          },
        );
        sent.on("error", reject);
        sent.end(body === undefined ? undefined : JSON.stringify(body));
      });
      for (const line of reply.headers["set-cookie"] ?? []) {
        const [pair = "", ...attributes] = line.split("; ");
        const [name = "", value = ""] = pair.split("=");
        if (attributes.includes("Max-Age=0")) jar.delete(name);
        else jar.set(name, value);
      }
      return reply;
    },
    async signIn(key) {
      const reply = await browser.send("POST", "/v1/session", { body: { key } });
      browser.csrf = typeof reply.body.csrf === "string" ? reply.body.csrf : undefined;
      return reply;
    },
  };
  return browser;
}
