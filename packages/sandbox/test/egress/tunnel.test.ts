/** `CONNECT` through the allow-list proxy: TLS for the granted host and for no other, plain HTTP by the same gate. */
import { createServer, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { addressBook, PUBLIC, startSite } from "../../../../test/support/loopback-site.ts";
import {
  clientHello,
  dial,
  openProxy,
  openTunnel,
  readAll,
  statusOf,
  type TestProxy,
} from "../../../../test/support/proxy-client.ts";
import { readClientHello } from "../../src/egress/pass-on.ts";
import type { EgressProxyOptions } from "../../src/egress/proxy.ts";

const BOOK = addressBook({ "site.test": [PUBLIC], "other.test": [PUBLIC], "inside.test": ["127.0.0.2"] });

interface RawHost {
  readonly port: number;
  readonly proxy: TestProxy;
  /** Everything that came through. */
  received(): Buffer;
  /** Of its connections, those that are open. */
  readonly open: ReadonlySet<Socket>;
}

/** A granted host that only listens, and answers when the other side has ended. */
async function rawHost(more: Partial<EgressProxyOptions> = {}): Promise<RawHost> {
  const chunks: Buffer[] = [];
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket);
    socket.on("data", (chunk) => void chunks.push(chunk));
    socket.on("end", () => socket.end("goodbye"));
    socket.on("error", () => undefined); // A proxy that closes in the middle resets it.
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, PUBLIC, listening));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const network = [`site.test:${port}`, `${PUBLIC}:${port}`];
  const proxy = await openProxy({ network, addresses: BOOK, ...more });
  return { port, proxy, open, received: () => Buffer.concat(chunks) };
}

describe("TLS in a tunnel", () => {
  test("is spoken with the granted host itself", async () => {
    const key = { psk: Buffer.alloc(32, 1), identity: "test" };
    const secure = { ciphers: "PSK", maxVersion: "TLSv1.2" } as const;
    const server = createTlsServer({ ...secure, pskCallback: () => key.psk }, (socket) => {
      socket.once("data", (chunk) => socket.end(`heard ${chunk}`));
    });
    await new Promise<void>((listening) => server.listen(0, PUBLIC, listening));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const proxy = await openProxy({ network: [`site.test:${port}`], addresses: BOOK });
    const { answer, socket } = await openTunnel(proxy, `site.test:${port}`);
    expect(statusOf(answer)).toBe(200);
    const client = connectTls({
      ...secure,
      socket,
      servername: "site.test",
      pskCallback: () => key,
      checkServerIdentity: () => undefined,
    });
    client.write("hello");
    expect(await readAll(client)).toBe("heard hello");
    expect(proxy.reached).toEqual(["site.test"]);
  });

  test("is passed on byte by byte, however it is cut, and each side ends for itself", async () => {
    const { port, proxy, received } = await rawHost();
    const { socket } = await openTunnel(proxy, `site.test:${port}`);
    const hello = await clientHello("site.test");
    const all = readAll(socket);
    for (const byte of hello.subarray(0, 20)) socket.write(Buffer.from([byte]));
    socket.write(hello.subarray(20));
    socket.end("more");
    expect(await all).toBe("goodbye");
    expect(received()).toEqual(Buffer.concat([hello, Buffer.from("more")]));
  });

  test("may come with the request, before the proxy has answered", async () => {
    const { port, proxy, received } = await rawHost();
    const hello = await clientHello("site.test");
    const socket = dial(proxy);
    const head = Buffer.from(`CONNECT site.test:${port} HTTP/1.1\r\nHost: x\r\n\r\n`);
    socket.end(Buffer.concat([head, hello]));
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\ngoodbye$/s);
    expect(readClientHello(received())).toMatchObject({ serverName: "site.test" });
  });

  test.each([
    ["names another host", "other.test"],
    ["names a host below", "www.site.test"],
    ["names none", undefined],
  ])("that %s is ended before the host hears of it", async (_, name) => {
    const { port, proxy, received, open } = await rawHost();
    const { socket } = await openTunnel(proxy, `site.test:${port}`);
    socket.write(await clientHello(name));
    const alert = Buffer.from(await readAll(socket), "latin1");
    expect([...alert]).toEqual([0x15, 3, 3, 0, 2, 2, 112]);
    expect(proxy.refused).toEqual([name ?? "site.test"]);
    await expect.poll(() => open.size).toBe(0);
    expect(received()).toHaveLength(0);
  });

  test("names no host when it is meant for an address", async () => {
    const { port, proxy, received } = await rawHost();
    const hello = await clientHello();
    const direct = await openTunnel(proxy, `${PUBLIC}:${port}`);
    direct.socket.end(hello);
    expect(await readAll(direct.socket)).toBe("goodbye");
    expect(received()).toEqual(hello);
    const named = await openTunnel(proxy, `${PUBLIC}:${port}`);
    named.socket.write(await clientHello("site.test"));
    await readAll(named.socket);
    expect(proxy.refused).toEqual(["site.test"]);
  });
});

describe("plain HTTP in a tunnel", () => {
  test("is read by the proxy: another `Host` or URL leads nowhere else", async () => {
    const hosts: (string | undefined)[] = [];
    const site = await startSite((request, response) => {
      hosts.push(request.headers.host);
      response.end("answer");
    });
    const host = `site.test:${site.port}`;
    const proxy = await openProxy({ network: [host], addresses: BOOK });
    const ask = async (url: string): Promise<number> => {
      const { socket } = await openTunnel(proxy, host);
      socket.write(`GET ${url} HTTP/1.1\r\nHost: other.test\r\n\r\n`);
      return statusOf(await readAll(socket));
    };
    expect(await ask("/1")).toBe(200);
    expect(await ask("http://other.test/2")).toBe(400);
    expect(site.requests).toEqual(["/1"]);
    expect(hosts).toEqual([host]);
  });

  test.each(["SSH-2.0-client\r\n", "EHLO mail.test\r\n", "\0\0\0\0", "\x16\x03\x01\x00\x01\x01"])(
    "is the only thing beside TLS: %j is not passed on",
    async (greeting) => {
      const { port, proxy, received } = await rawHost();
      const { socket } = await openTunnel(proxy, `site.test:${port}`);
      socket.write(greeting);
      expect(statusOf(await readAll(socket))).toBe(400);
      expect(received()).toHaveLength(0);
    },
  );
});

describe("a tunnel that is refused", () => {
  test.each([
    ["other.test:443", "`other.test` is not granted"],
    ["other.test:80", "`other.test` is not granted"],
    ["other.test:22", "`other.test:22` is not granted"],
    ["localhost:443", "a name of this machine"],
    ["[::1]:443", "the loopback address"],
    ["[::1%25lo]:443", "is not a URL"],
    ["10.1.2.3:443", "a private address"],
    ["0x7f.1:443", "a loopback address"],
    ["inside.test:443", "`127.0.0.2`, a loopback address"],
    ["site.test", "`CONNECT` needs a host and a port"],
    ["a@site.test:443", "`CONNECT` needs a host and a port"],
    ["site.test:99999", "is not a URL"],
  ])("%s: is answered with 403 and the reason", async (authority, reason) => {
    const network = ["site.test", "inside.test", "localhost", "[::1]", "10.1.2.3", "127.0.0.1"];
    const proxy = await openProxy({ network, addresses: { ...BOOK, isPublic: () => false } });
    const { answer, socket } = await openTunnel(proxy, authority);
    expect(answer).toMatch(/^HTTP\/1\.1 403 Not Granted\r\n/);
    expect(answer).toContain(reason);
    await readAll(socket);
    expect(proxy.reached).toEqual([]);
  });

  test("stands for the port of its scheme: a grant without a port is no grant for another", async () => {
    const proxy = await openProxy({
      network: ["site.test"],
      addresses: { ...BOOK, resolve: async () => [] },
    });
    for (const [port, status] of [
      [443, 502],
      [80, 502],
      [8443, 403],
    ] as const) {
      const { answer } = await openTunnel(proxy, `site.test:${port}`);
      expect(statusOf(answer)).toBe(status);
    }
  });
});

describe("a tunnel that is left alone", () => {
  test("is closed after a while: before anything was said, and after", async () => {
    const { port, proxy, open } = await rawHost({ limits: { idleMs: 100 } });
    const silent = await openTunnel(proxy, `site.test:${port}`);
    const begun = await openTunnel(proxy, `site.test:${port}`);
    begun.socket.write(await clientHello("site.test"));
    await Promise.all([readAll(silent.socket), readAll(begun.socket)]);
    await expect.poll(() => open.size).toBe(0);
  });

  test("is closed when its client goes away without a word", async () => {
    const { port, proxy, open } = await rawHost();
    const { socket } = await openTunnel(proxy, `site.test:${port}`);
    await expect.poll(() => open.size).toBe(1);
    socket.destroy();
    await expect.poll(() => open.size).toBe(0);
  });

  test("ends with the proxy, in the middle of what it carries", async () => {
    const { port, proxy, open, received } = await rawHost();
    const { socket } = await openTunnel(proxy, `site.test:${port}`);
    const hello = await clientHello("site.test");
    socket.write(hello);
    await expect.poll(() => received().length).toBe(hello.length);
    const all = readAll(socket);
    await proxy.close();
    expect(await all).toBe("");
    await expect.poll(() => open.size).toBe(0);
  });
});
