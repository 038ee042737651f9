/** The inspector's page as the service gives it: its headers, its cache, and who may have it. */
import { type IncomingMessage, request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { ServedPage } from "../src/http/serve-page.ts";
import { openBrowser } from "./support/browser.ts";
import { openService } from "./support/open-service.ts";

const SCRIPT = `console.log(${JSON.stringify("x".repeat(5_000))});`;

const page: ServedPage = {
  find(path) {
    if (path === "index.html")
      return {
        body: "<!doctype html><title>Metier</title>",
        type: "text/html; charset=utf-8",
        cache: "revalidate",
      };
    if (path === "assets/page-1a2b.js")
      return { body: SCRIPT, type: "text/javascript; charset=utf-8", cache: "immutable" };
    return undefined;
  },
};

test("the page comes with a policy that allows nothing unsafe, and is asked for anew each time", async () => {
  const { url } = await openService({ page });
  const response = await fetch(url);
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("<title>Metier</title>");
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).not.toContain("unsafe");
  for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"])
    expect(policy).toContain(part);
  expect(policy).toContain("require-trusted-types-for 'script'");
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
    "content-type": "text/html; charset=utf-8",
  });
  const again = await fetch(url, { headers: { "if-none-match": response.headers.get("etag") ?? "" } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test("a file of the page is packed as the browser wants it, and kept for good", async () => {
  const { url } = await openService({ page });
  const get = async (accepted: string): Promise<readonly [string | null, Buffer, Headers]> => {
    const headersSent = { "accept-encoding": accepted };
    const response = await new Promise<IncomingMessage>((resolve) =>
      request(`${url}/assets/page-1a2b.js`, { agent: false, headers: headersSent }, resolve).end(),
    );
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const headers = new Headers(response.headers as Record<string, string>);
    return [headers.get("content-encoding"), Buffer.concat(chunks), headers];
  };
  const [brotli, small, headers] = await get("gzip, deflate, br");
  expect([brotli, brotliDecompressSync(small).toString()]).toEqual(["br", SCRIPT]);
  expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(headers.get("vary")).toBe("Accept-Encoding");
  const [gzip, zipped] = await get("gzip, br;q=0");
  expect([gzip, gunzipSync(zipped).toString()]).toEqual(["gzip", SCRIPT]);
  const [plain, whole] = await get("identity");
  expect([plain, whole.toString()]).toEqual([null, SCRIPT]);
});

test("nothing but the page's own files is given, and without a page there is none", async () => {
  const { url } = await openService({ page });
  const browser = openBrowser(url);
  for (const path of [
    "/assets/other.js",
    "/assets/../index.html",
    "/assets/%2e%2e%2findex.html",
    "/index.html",
    "/open",
  ])
    expect([path, (await browser.send("GET", path)).status]).toEqual([path, 404]);
  const bare = openBrowser((await openService()).url);
  expect((await bare.send("GET", "/")).body.error?.code).toBe("not_found");
});

test("a service of this machine gives its page under names of this machine only", async () => {
  const { url } = await openService({ page });
  const browser = openBrowser(url);
  const port = new URL(url).port;
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
    expect([host, (await browser.send("GET", "/", { headers: { host } })).status]).toEqual([host, 200]);
  for (const host of [
    `evil.example:${port}`,
    `127.0.0.1.evil.example`,
    "localhost.evil.example",
    "10.0.0.1",
  ]) {
    const refused = await browser.send("GET", "/", { headers: { host } });
    expect([host, refused.status, refused.body.error?.code]).toEqual([host, 403, "wrong_host"]);
  }
});

test("a printed token opens the page, leaves the address, and a wrong one opens nothing", async () => {
  const first = await openService();
  const key = await first.makeKey(["read"]);
  await first.stop();
  const service = await openService({
    folder: first.folder,
    page,
    opening: { key, accepts: (token) => token === "t".repeat(43) },
  });
  const browser = openBrowser(service.url);
  for (const path of ["/open", "/open?token=", "/open?token=tttt", `/open?token=${"T".repeat(43)}`]) {
    const refused = await browser.send("GET", path);
    expect([path, refused.status, browser.jar.size]).toEqual([path, 401, 0]);
  }
  const opened = await browser.send("GET", `/open?token=${"t".repeat(43)}`);
  expect([opened.status, opened.headers.location]).toEqual([303, "/"]);
  expect(opened.headers["referrer-policy"]).toBe("no-referrer");
  expect((await browser.send("GET", "/v1/me")).body).toMatchObject({ scopes: ["read"] });
  expect(service.log.join("\n")).not.toContain("ttt");
  const rebound = { host: "evil.example" };
  expect((await browser.send("GET", `/open?token=${"t".repeat(43)}`, { headers: rebound })).status).toBe(403);
});
