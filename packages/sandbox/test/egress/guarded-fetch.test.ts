import { createServer } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { addressBook, PUBLIC, startSite } from "../../../../test/support/loopback-site.ts";
import { type FetchResult, guardedFetch } from "../../src/egress/guarded-fetch.ts";

const BOOK = addressBook({ "site.test": [PUBLIC] });

function textOf(outcome: FetchResult): string {
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  return outcome.value.bytes.toString();
}

describe("a granted URL", () => {
  test("is fetched, with status, media type and charset", async () => {
    const site = await startSite((_, response) => {
      response.writeHead(201, { "content-type": 'Text/Plain; a=b; Charset="utf-8"' }).end("hello");
    });
    const url = `http://site.test:${site.port}/page?q=1#part`;
    const outcome = await guardedFetch(url, { network: [`site.test:${site.port}`] }, BOOK);
    expect(outcome).toEqual({
      ok: true,
      value: {
        status: 201,
        url: `http://site.test:${site.port}/page?q=1`,
        mediaType: "text/plain",
        charset: "utf-8",
        bytes: Buffer.from("hello"),
        isCut: false,
      },
    });
    expect(site.requests).toEqual(["/page?q=1"]);
  });

  test("is asked for under its own name, without cookies or credentials", async () => {
    let headers: NodeJS.Dict<string | string[]> = {};
    const site = await startSite((request, response) => {
      headers = request.headers;
      response.end();
    });
    await guardedFetch(`http://site.test:${site.port}/`, { network: [`site.test:${site.port}`] }, BOOK);
    expect(Object.keys(headers).sort()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "host",
      "user-agent",
    ]);
    expect(headers.host).toBe(`site.test:${site.port}`);
  });

  test("is reached over TLS under its own name", async () => {
    let hello = "";
    const server = createServer((socket) => {
      socket.once("data", (chunk) => {
        hello = chunk.toString("latin1");
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, PUBLIC, resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const outcome = await guardedFetch(
      `https://site.test:${port}/`,
      { network: [`site.test:${port}`] },
      BOOK,
    );
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "unreachable" } });
    expect(hello).toContain("site.test");
  });

  test.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ])("is unpacked from %s", async (encoding, pack) => {
    const site = await startSite((_, response) => {
      response.writeHead(200, { "content-encoding": encoding }).end(pack("packed text"));
    });
    const outcome = await guardedFetch(
      `http://site.test:${site.port}/`,
      { network: [`site.test:${site.port}`] },
      BOOK,
    );
    expect(textOf(outcome)).toBe("packed text");
  });

  test("that answers without a body, though packed, gives an empty one", async () => {
    const site = await startSite((_, response) =>
      response.writeHead(204, { "content-encoding": "gzip" }).end(),
    );
    const outcome = await guardedFetch(
      `http://site.test:${site.port}/`,
      { network: [`site.test:${site.port}`] },
      BOOK,
    );
    expect(textOf(outcome)).toBe("");
  });

  test.each(["gzip, gzip", "deflate", "constructor"])(
    "that is packed as `%s` is refused",
    async (encoding) => {
      const site = await startSite((_, response) => {
        response.writeHead(200, { "content-encoding": encoding }).end("x");
      });
      const outcome = await guardedFetch(
        `http://site.test:${site.port}/`,
        { network: [`site.test:${site.port}`] },
        BOOK,
      );
      expect(outcome).toMatchObject({ ok: false, refusal: { reason: "media-type" } });
      expect(outcome).toHaveProperty("refusal.message", expect.stringContaining(`\`${encoding}\``));
    },
  );

  test("is refused by its media type before the body is read", async () => {
    const site = await startSite((_, response) => {
      response.writeHead(200, { "content-type": "image/png" }).write("x"); // and never ends
    });
    const outcome = await guardedFetch(
      `http://site.test:${site.port}/`,
      { network: [`site.test:${site.port}`], accepts: (type) => type.startsWith("text/") },
      BOOK,
    );
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "media-type" } });
    expect(outcome).toHaveProperty("refusal.message", expect.stringContaining("`image/png`"));
  });

  test("follows up to five redirects", async () => {
    const site = await startSite((request, response) => {
      const step = Number(request.url?.slice(1));
      if (step === 0) response.end("here");
      else response.writeHead(302, { location: String(step - 1) }).end();
    });
    const options = { network: [`site.test:${site.port}`] };
    const outcome = await guardedFetch(`http://site.test:${site.port}/5`, options, BOOK);
    expect(textOf(outcome)).toBe("here");
    expect(outcome).toHaveProperty("value.url", `http://site.test:${site.port}/0`);
    const further = await guardedFetch(`http://site.test:${site.port}/6`, options, BOOK);
    expect(further).toMatchObject({ ok: false, refusal: { reason: "redirects" } });
  });

  test("that redirects without saying where is an answer", async () => {
    const site = await startSite((_, response) => response.writeHead(302).end("nowhere"));
    const outcome = await guardedFetch(
      `http://site.test:${site.port}/`,
      { network: [`site.test:${site.port}`] },
      BOOK,
    );
    expect(outcome).toMatchObject({ ok: true, value: { status: 302 } });
  });
});

describe("a request", () => {
  test("to a name without an address is refused", async () => {
    const outcome = await guardedFetch("http://nowhere.test/", { network: ["nowhere.test"] }, BOOK);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "unresolved" } });
  });

  test("to a name whose resolver fails is refused", async () => {
    const book = { ...BOOK, resolve: async () => Promise.reject(new Error("SERVFAIL")) };
    const outcome = await guardedFetch("http://site.test/", { network: ["site.test"] }, book);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "unresolved" } });
  });

  test("to a closed port names the fault", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, PUBLIC, resolve));
    const { port } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    const outcome = await guardedFetch(`http://site.test:${port}/`, { network: [`site.test:${port}`] }, BOOK);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "unreachable" } });
    expect(outcome).toHaveProperty("refusal.message", expect.stringContaining("ECONNREFUSED"));
  });

  test("that is cancelled ends and closes its connection", async () => {
    const stop = new AbortController();
    const closed = Promise.withResolvers<void>();
    const site = await startSite((request) => {
      request.socket.once("close", () => closed.resolve());
      stop.abort();
    });
    const outcome = await guardedFetch(
      `http://site.test:${site.port}/`,
      { network: [`site.test:${site.port}`], signal: stop.signal },
      BOOK,
    );
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "cancelled" } });
    await closed.promise;
  });

  test("that was cancelled before does not begin", async () => {
    const site = await startSite((_, response) => response.end());
    const outcome = await guardedFetch(
      `http://site.test:${site.port}/`,
      { network: [`site.test:${site.port}`], signal: AbortSignal.abort() },
      BOOK,
    );
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "cancelled" } });
    expect(site.requests).toEqual([]);
  });

  test("answered by something that is not HTTP is a fault, not an exception", async () => {
    const server = createServer((socket) => socket.end("220 mail ready\r\n"));
    await new Promise<void>((resolve) => server.listen(0, PUBLIC, resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as { port: number };
    const outcome = await guardedFetch(`http://site.test:${port}/`, { network: [`site.test:${port}`] }, BOOK);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "unreachable" } });
  });
});
