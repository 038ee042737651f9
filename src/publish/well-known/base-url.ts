/** Where a folder will be served, so that the addresses in its index can be complete. */
import { isLoopbackHost } from "../../install/addresses/loopback-host.ts";

export type BaseUrl =
  | { readonly ok: true /** With a slash at the end. */; readonly url: string }
  | { readonly ok: false; readonly message: string };

export function readBaseUrl(text: string): BaseUrl {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return { ok: false, message: `\`${text}\` is no address of a site, such as \`https://example.com\`.` };
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    return {
      ok: false,
      message: `The address of a site has no user, password, query or fragment: \`${url.origin}${url.pathname}\`.`,
    };
  }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    return { ok: false, message: `\`${text}\` is not encrypted; only this machine may be \`http:\`.` };
  }
  return { ok: true, url: url.href.endsWith("/") ? url.href : `${url.href}/` };
}
