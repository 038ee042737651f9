/**
 * One GET request to addresses that were checked before: the name is not resolved again, so whoever owns it cannot
 * answer differently the second time. The host stays in the `Host` header and the TLS name, certificates are checked,
 * and no proxy, cookie, stored connection or credential takes part.
 */
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { VERSION } from "../foundation/version.ts";
import { lookupPinned } from "./dial-pinned.ts";

const HEADERS = {
  "user-agent": `metier/${VERSION}`,
  accept: "text/html, application/json, text/plain, application/xml;q=0.9, */*;q=0.5",
};

/** Rejects when there is no answer; the body of an answer is yet to be read, or to be destroyed. */
export function requestPinned(
  url: URL,
  addresses: readonly string[],
  signal: AbortSignal,
  { packed = true }: { readonly packed?: boolean } = {},
): Promise<IncomingMessage> {
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(url, {
      agent: false,
      headers: { ...HEADERS, "accept-encoding": packed ? "gzip, br" : "identity" },
      lookup: lookupPinned(addresses),
      rejectUnauthorized: true,
      signal,
    });
    sent.once("response", resolve);
    sent.once("error", reject);
    sent.once("close", () => reject(new Error("the connection was closed without an answer")));
    sent.end();
  });
}
