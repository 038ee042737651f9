/** The allow-list proxy, spoken to on its socket: what it lets through, what it refuses, and how it ends. */
import { existsSync, statSync } from "node:fs";
import type { RequestListener } from "node:http";
import { createServer, type Socket } from "node:net";
import { dirname } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { addressBook, PUBLIC, type Site, startSite } from "../../../../test/support/loopback-site.ts";
import {
  dial,
  exchange,
  get,
  openProxy,
  readAll,
  statusOf,
  type TestProxy,
} from "../../../../test/support/proxy-client.ts";
import type { EgressProxyOptions } from "../../src/egress/proxy.ts";

const BOOK = addressBook({
  "site.test": [PUBLIC],
  "other.test": [PUBLIC],
  "inside.test": ["127.0.0.2"],
  "mixed.test": [PUBLIC, "10.0.0.1"],
});

interface Served {
  readonly site: Site;
  readonly proxy: TestProxy;
  /** `http://site.test:<port>` */
  readonly origin: string;
}

/** A granted site, `site.test`, and a proxy that lets nothing else through. */
async function serve(listener: RequestListener, more: Partial<EgressProxyOptions> = {}): Promise<Served> {
  const site = await startSite(listener);
  const proxy = await openProxy({ network: [`site.test:${site.port}`], addresses: BOOK, ...more });
  return { site, proxy, origin: `http://site.test:${site.port}` };
}

/** What the site was told, as text. */
const echo: RequestListener = (request, response) => {
  const lines = [`${request.method} ${request.url}`];
  request.rawHeaders.forEach((value, index) => {
    if (index % 2 === 1) lines.push(`${request.rawHeaders[index - 1]}: ${value}`);
  });
  let body = "";
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => response.end(`${lines.join("\n")}\nbody=${body}`));
};

describe("a plain request", () => {
  test("reaches a granted host, and what belongs to the connection stays behind", async () => {
    const { proxy, origin, site } = await serve(echo);
    const answer = await get(
      proxy,
      `${origin}/a/b?c=d#e`,
      "Accept: text/x",
      "Proxy-Authorization: Basic c2VjcmV0",
      "Proxy-Connection: keep-alive",
      "Keep-Alive: timeout=5",
      "Upgrade: websocket",
      "TE: trailers",
      "Connection: x-own, close",
      "X-Own: 1",
    );
    expect(statusOf(answer)).toBe(200);
    expect(answer).toContain(
      `GET /a/b?c=d\nAccept: text/x\nHost: site.test:${site.port}\nConnection: close\nbody=`,
    );
    expect(proxy.reached).toEqual(["site.test"]);
    expect(proxy.refused).toEqual([]);
  });

  test("goes to the host of its URL, whatever its `Host` says", async () => {
    const { proxy, origin, site } = await serve(echo);
    const answer = await get(proxy, `${origin}/`);
    expect(answer).toContain(`Host: site.test:${site.port}`);
    expect(answer).not.toContain("whatever.test");
  });

  test("carries its body, of known and of unknown length", async () => {
    const { proxy, origin } = await serve(echo);
    const head = [`POST ${origin}/ HTTP/1.1`, "Host: site.test", "Connection: close"];
    const known = await exchange(proxy, [...head, "Content-Length: 5"], "hello");
    expect(known).toMatch(/Content-Length: 5\nbody=hello/);
    const chunked = await exchange(proxy, [...head, "Transfer-Encoding: chunked"], "5\r\nhello\r\n0\r\n\r\n");
    expect(chunked).toMatch(/Transfer-Encoding: chunked\nbody=hello/);
  });

  test("gets the answer as it is, also a redirect, which is the client's to follow", async () => {
    const { proxy, origin } = await serve((_, response) => {
      response
        .writeHead(302, "Over There", [
          ...["Location", "http://other.test/", "Set-Cookie", "a=1", "Set-Cookie", "b=2"],
          ...["Connection", "x-hop", "X-Hop", "1"],
        ])
        .end("moved");
    });
    const answer = await get(proxy, `${origin}/`);
    expect(answer).toMatch(/^HTTP\/1\.1 302 Over There\r\n/);
    expect(answer).toContain("Location: http://other.test/\r\n");
    expect(answer).toContain("Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n");
    expect(answer).not.toContain("X-Hop");
    expect(answer).toContain("moved");
    expect(statusOf(await get(proxy, "http://other.test/"))).toBe(403);
    expect(proxy.refused).toEqual(["other.test"]);
  });

  test("is the only one of its connection: what follows it is not read", async () => {
    const { proxy, origin, site } = await serve(echo);
    const socket = dial(proxy);
    const line = (url: string): string => `GET ${url} HTTP/1.1\r\nHost: x\r\n\r\n`;
    socket.write(line(`${origin}/1`) + line(`${origin}/2`) + line(`http://other.test:${site.port}/3`));
    const answers = await readAll(socket);
    expect(answers.match(/HTTP\/1\.1 \d{3}/g)).toEqual(["HTTP/1.1 200"]);
    expect(answers).toContain("Connection: close");
    expect(site.requests).toEqual(["/1"]);
  });

  test("that is not meant for a proxy is told so", async () => {
    const { proxy, site } = await serve(echo);
    for (const url of ["/", `https://site.test:${site.port}/`, "ftp://site.test/", "*"]) {
      const answer = await get(proxy, url);
      expect(statusOf(answer)).toBe(400);
      expect(answer).toContain("This is a proxy");
    }
    expect(site.requests).toEqual([]);
  });
});

describe("a request that hides a second one", () => {
  const HIDDEN = "GET /hidden HTTP/1.1\r\nHost: other.test\r\n\r\n";
  const chunked = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`;

  test.each([
    ["in the body of a GET in chunks", ["Transfer-Encoding: chunked"], chunked],
    ["in the body of a GET of known length", [`Content-Length: ${HIDDEN.length}`], HIDDEN],
    [
      "behind a length that `Connection` names as its own",
      [`Content-Length: ${HIDDEN.length}`, "Connection: content-length"],
      HIDDEN,
    ],
  ])("%s, sends one", async (_, headers, body) => {
    const { proxy, origin, site } = await serve(echo);
    const lines = [`GET ${origin}/ HTTP/1.1`, "Host: site.test", "Connection: close", ...headers];
    expect(statusOf(await exchange(proxy, lines, body))).toBe(200);
    expect(site.requests).toEqual(["/"]);
  });

  test("behind more headers than servers usually read, stays in its body", async () => {
    let sent = "";
    const port = await startRaw((socket) =>
      socket.on("data", (chunk) => {
        sent += chunk.toString("latin1");
        if (sent.endsWith("\r\n0\r\n\r\n")) socket.end("HTTP/1.1 204 No Content\r\n\r\n");
      }),
    );
    const proxy = await openProxy({ network: [`site.test:${port}`], addresses: BOOK });
    const many = Array.from({ length: 2100 }, () => "a:");
    const lines = [`GET http://site.test:${port}/ HTTP/1.1`, "Host: x", ...many];
    const answer = await exchange(
      proxy,
      [...lines, "Transfer-Encoding: chunked", "Connection: close"],
      chunked,
    );
    expect(statusOf(answer)).toBe(204);
    expect(sent).toContain("Transfer-Encoding: chunked\r\n\r\n");
    expect(sent.endsWith(`\r\n\r\n${chunked}`)).toBe(true);
  });

  test.each([
    ["behind two lengths", ["Content-Length: 5", `Content-Length: ${HIDDEN.length}`]],
    ["behind a length and chunks", [`Content-Length: ${HIDDEN.length}`, "Transfer-Encoding: chunked"]],
    ["behind chunks that are not the last coding", ["Transfer-Encoding: chunked, identity"]],
    ["behind another coding", ["Transfer-Encoding: gzip, chunked"]],
    ["behind a length that is none", ["Content-Length: 0x10"]],
    ["behind a folded header", ["X: y", " Transfer-Encoding: chunked"]],
    ["behind a blank before a colon", ["Transfer-Encoding : chunked"]],
    ["behind a bare line feed", ["X: y\nTransfer-Encoding: chunked"]],
  ])("%s, is refused", async (_, headers) => {
    const { proxy, origin, site } = await serve(echo);
    const lines = [`POST ${origin}/ HTTP/1.1`, "Host: site.test", "Connection: close", ...headers];
    expect(statusOf(await exchange(proxy, lines, chunked))).toBe(400);
    expect(site.requests).toEqual([]);
  });
});

describe("what is not granted", () => {
  /** As wide as a user can grant, without what the first row asks for. */
  const WIDE = [
    "inside.test",
    "mixed.test",
    "10.0.0.1",
    "127.0.0.2",
    "169.254.169.254",
    "[::1]",
    "[::ffff:10.0.0.1]",
    "localhost",
    "intranet",
  ];

  test.each([
    ["another host", "http://other.test:PORT/", "`other.test:PORT` is not granted"],
    ["another port", "http://site.test/", "`site.test` is not granted"],
    ["a name that leads inside", "http://inside.test:PORT/", "`127.0.0.2`, a loopback address"],
    ["a name that leads in and out", "http://mixed.test:PORT/", "`10.0.0.1`, a private address"],
    ["an address inside", "http://10.0.0.1:PORT/", "a private address"],
    ["an address in another spelling", "http://0x7f000002:PORT/", "a loopback address"],
    ["the metadata service", "http://169.254.169.254:PORT/", "a link-local address"],
    ["IPv6's loopback", "http://[::1]:PORT/", "the loopback address"],
    ["IPv4 in IPv6", "http://[::ffff:10.0.0.1]:PORT/", "an IPv4 address in IPv6 form"],
    ["localhost", "http://localhost:PORT/", "a name of this machine"],
    ["a name without a dot", "http://intranet:PORT/", "a name of this machine"],
    ["a URL with a password", "http://a:b@site.test:PORT/", "user name or password"],
  ])("%s is answered with 403 and the reason", async (_, url, reason) => {
    const site = await startSite(echo);
    const network = [`site.test:${site.port}`, ...WIDE.map((grant) => `${grant}:${site.port}`)];
    const proxy = await openProxy({ network, addresses: BOOK });
    const put = (text: string): string => text.replace("PORT", String(site.port));
    const answer = await get(proxy, put(url));
    expect(statusOf(answer)).toBe(403);
    expect(answer).toContain("text/plain");
    expect(answer).toContain(put(reason));
    expect(proxy.refused).toHaveLength(1);
    expect(proxy.reached).toEqual([]);
    expect(site.requests).toEqual([]);
  });

  test("says how it is granted", async () => {
    const { proxy, site } = await serve(echo);
    const answer = await get(proxy, `http://other.test:${site.port}/`);
    expect(answer).toContain(`Granted: \`site.test:${site.port}\``);
    expect(answer).toContain(`\`[sandbox]\` \`network = ["other.test:${site.port}"]\``);
  });

  test("is everything while it is held back", async () => {
    let held: string | undefined;
    const { proxy, origin } = await serve(echo, { whyHeld: () => held });
    expect(statusOf(await get(proxy, `${origin}/`))).toBe(200);
    held = "Not now.";
    const answer = await get(proxy, `${origin}/`);
    expect(statusOf(answer)).toBe(403);
    expect(answer).toContain("Not now.");
    expect(proxy.refused).toEqual(["site.test"]);
  });
});

test("a name is resolved once, and dialled where the check saw it", async () => {
  const lookups: string[] = [];
  const resolve = async (host: string): Promise<readonly string[]> => {
    lookups.push(host);
    return lookups.length === 1 ? [PUBLIC] : ["127.0.0.2"];
  };
  const { proxy, origin } = await serve(echo, { addresses: { ...BOOK, resolve } });
  expect(statusOf(await get(proxy, `${origin}/`))).toBe(200);
  expect(lookups).toEqual(["site.test"]);
  expect(statusOf(await get(proxy, `${origin}/`))).toBe(403);
});

describe("a host that does not answer", () => {
  test("has no address", async () => {
    const proxy = await openProxy({ network: ["nowhere.test"], addresses: BOOK });
    const answer = await get(proxy, "http://nowhere.test/");
    expect(statusOf(answer)).toBe(502);
    expect(answer).toContain("`nowhere.test` has no address");
  });

  test("is not there", async () => {
    const port = await freePort();
    const proxy = await openProxy({ network: [`site.test:${port}`], addresses: BOOK });
    const answer = await get(proxy, `http://site.test:${port}/`);
    expect(statusOf(answer)).toBe(502);
    expect(answer).toContain("cannot be reached");
    expect(proxy.reached).toEqual([]);
  });

  test("speaks no HTTP", async () => {
    const port = await startRaw((socket) => socket.end("220 mail.test ESMTP\r\n"));
    const proxy = await openProxy({ network: [`site.test:${port}`], addresses: BOOK });
    expect(statusOf(await get(proxy, `http://site.test:${port}/`))).toBe(502);
  });

  test("breaks off in its answer, and the next one is served", async () => {
    const { proxy, origin } = await serve((request, response) => {
      if (request.url === "/whole") return void response.end("whole");
      response.writeHead(200, { "content-length": 100 }).write("half");
      setTimeout(() => response.destroy(), 20);
    });
    const half = await get(proxy, `${origin}/half`);
    expect(half).toMatch(/\r\n\r\nhalf$/);
    expect(await get(proxy, `${origin}/whole`)).toContain("whole");
  });
});

describe("what is bounded", () => {
  test("the size of headers", async () => {
    const { proxy, origin, site } = await serve(echo);
    expect(statusOf(await get(proxy, `${origin}/`, `X: ${"x".repeat(20_000)}`))).toBe(431);
    expect(statusOf(await get(proxy, `${origin}/${"x".repeat(20_000)}`))).toBe(431);
    expect(site.requests).toEqual([]);
  });

  test("how long a connection may be silent: before a request, in it, and while it is answered", async () => {
    const { proxy, origin } = await serve(() => undefined, { limits: { idleMs: 100 } });
    const silent = readAll(dial(proxy));
    const half = dial(proxy);
    half.write(`GET ${origin}/ HTTP/1.1\r\nHost:`);
    await Promise.all([silent, readAll(half), get(proxy, `${origin}/`)]);
  });

  test("how many connections there are at a time", async () => {
    const { proxy, origin } = await serve(echo, { limits: { connections: 2 } });
    const held = [dial(proxy), dial(proxy)];
    await Promise.all(held.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    expect(await get(proxy, `${origin}/`)).toBe("");
    for (const socket of held) socket.destroy();
    await expect.poll(async () => statusOf(await get(proxy, `${origin}/`))).toBe(200);
  });
});

describe("its socket", () => {
  test("lies in a folder that is the user's alone, and is gone with it", async () => {
    const proxy = await openProxy({ network: [], addresses: BOOK });
    const folder = dirname(proxy.socketPath);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(Buffer.byteLength(proxy.socketPath)).toBeLessThan(104);
    await proxy.close();
    expect(existsSync(folder)).toBe(false);
  });

  test("closes with everything that is under way", async () => {
    const { proxy, origin } = await serve(() => undefined);
    const under = [get(proxy, `${origin}/never`), readAll(dial(proxy))];
    await expect.poll(() => proxy.reached).toEqual(["site.test"]);
    await proxy.close();
    await Promise.all(under);
    await proxy.close();
  });

  test("lets nothing out any more when a name is resolved after it was closed", async () => {
    const asked = Promise.withResolvers<void>();
    const resolved = Promise.withResolvers<readonly string[]>();
    const resolve = (): Promise<readonly string[]> => {
      asked.resolve();
      return resolved.promise;
    };
    const { proxy, origin, site } = await serve(echo, { addresses: { ...BOOK, resolve } });
    const late = get(proxy, `${origin}/`);
    await asked.promise;
    await proxy.close();
    resolved.resolve([PUBLIC]);
    expect(await late).toBe("");
    await new Promise((settled) => setTimeout(settled, 50));
    expect(proxy.reached).toEqual([]);
    expect(site.requests).toEqual([]);
  });
});

async function startRaw(listener: (socket: Socket) => void): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, PUBLIC, listening));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

/** Of a server that was there and is gone. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, PUBLIC, listening));
  const { port } = server.address() as { port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}
