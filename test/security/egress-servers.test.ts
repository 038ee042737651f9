/** Hostile servers and name servers, on loopback: redirects inwards, rebinding, slow, endless and exploding answers. */
import { gzipSync } from "node:zlib";
import { type AddressBook, guardedFetch } from "@metier/sandbox/egress";
import { describe, expect, test } from "vitest";
import { addressBook, PUBLIC, startSite } from "../support/loopback-site.ts";

/** Loopback as well, but not public in these tests. */
const INSIDE = "127.0.0.2";
const BOOK = addressBook({ "site.test": [PUBLIC], "inside.test": [INSIDE] });
const MEBIBYTE = 1024 * 1024;

describe("a redirect inwards is refused", () => {
  test.each([
    ["to an address", (port: number) => `http://${INSIDE}:${port}/secret`, "private-address"],
    ["to an address in another spelling", (port: number) => `http://0x7f000002:${port}/`, "private-address"],
    [
      "to a name that leads to an address",
      (port: number) => `http://inside.test:${port}/`,
      "private-address",
    ],
    ["without a scheme", (port: number) => `//${INSIDE}:${port}/`, "private-address"],
    ["to localhost", (port: number) => `http://localhost:${port}/`, "local-name"],
    ["to a file", () => "file:///etc/passwd", "invalid"],
    ["with credentials", (port: number) => `http://a:b@site.test:${port}/`, "credentials"],
    ["to a host nobody granted", () => "https://other.test/", "not-granted"],
    ["to no URL", () => "http://[", "invalid"],
  ])("%s", async (_, location, reason) => {
    const inside = await startSite((_, response) => response.end("secret"), INSIDE);
    const site = await startSite((_, response) => {
      response.writeHead(307, { location: location(inside.port) }).end();
    });
    const network = [`site.test:${site.port}`, `*:${inside.port}`];
    const outcome = await guardedFetch(`http://site.test:${site.port}/`, { network }, BOOK);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason } });
    expect(outcome).toHaveProperty(
      "refusal.message",
      expect.stringContaining("redirects to a refused address"),
    );
    expect(inside.requests).toEqual([]);
  });

  test("at the end of a chain of honest ones", async () => {
    const inside = await startSite((_, response) => response.end("secret"), INSIDE);
    const site = await startSite((request, response) => {
      const step = Number(request.url?.slice(1));
      const location = step === 0 ? `http://${INSIDE}:${inside.port}/` : `/${step - 1}`;
      response.writeHead(302, { location }).end();
    });
    const network = [`site.test:${site.port}`, `*:${inside.port}`];
    const outcome = await guardedFetch(`http://site.test:${site.port}/4`, { network }, BOOK);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "private-address" } });
    expect(site.requests).toHaveLength(5);
    expect(inside.requests).toEqual([]);
  });
});

describe("a name that changes its mind", () => {
  /** Public the first time, inside ever after. */
  function rebinding(): AddressBook & { readonly lookups: string[] } {
    const lookups: string[] = [];
    return {
      ...BOOK,
      lookups,
      async resolve(host) {
        lookups.push(host);
        return lookups.length === 1 ? [PUBLIC] : [INSIDE];
      },
    };
  }

  test("is dialled where the check saw it, and resolved only once", async () => {
    const site = await startSite((_, response) => response.end("outside"));
    const book = rebinding();
    const outcome = await guardedFetch(
      `http://rebind.test:${site.port}/`,
      { network: [`rebind.test:${site.port}`] },
      book,
    );
    expect(outcome).toMatchObject({ ok: true, value: { bytes: Buffer.from("outside") } });
    expect(book.lookups).toEqual(["rebind.test"]);
  });

  test("is checked again when it redirects to itself", async () => {
    const site = await startSite((_, response) => response.writeHead(302, { location: "/again" }).end());
    const book = rebinding();
    const outcome = await guardedFetch(
      `http://rebind.test:${site.port}/`,
      { network: [`rebind.test:${site.port}`] },
      book,
    );
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "private-address" } });
    expect(site.requests).toEqual(["/"]);
  });
});

describe("an answer that does not end", () => {
  test("is cut at the limit, and its connection closed", async () => {
    const closed = Promise.withResolvers<void>();
    const site = await startSite((_, response) => {
      const chunk = "x".repeat(65_536);
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on("drain", pour).once("close", () => closed.resolve());
      pour();
    });
    const outcome = await guardedFetch(
      `http://site.test:${site.port}/`,
      { network: [`site.test:${site.port}`], maxBytes: 100_000 },
      BOOK,
    );
    expect(outcome).toMatchObject({ ok: true, value: { isCut: true } });
    expect(outcome).toHaveProperty("value.bytes.length", 100_000);
    await closed.promise;
  });

  test("is cut at the default limit when it unpacks to far more than was sent", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MEBIBYTE));
    const site = await startSite((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
    });
    const outcome = await guardedFetch(
      `http://site.test:${site.port}/`,
      { network: [`site.test:${site.port}`] },
      BOOK,
    );
    expect(outcome).toMatchObject({ ok: true, value: { isCut: true } });
    expect(outcome).toHaveProperty("value.bytes.length", 2 * MEBIBYTE);
  });

  test("is refused when it is packed and unpacks to nothing", async () => {
    const nothing = gzipSync("");
    const site = await startSite((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      const pour = (): void => {
        while (!response.destroyed && response.write(nothing));
      };
      response.on("drain", pour);
      pour();
    });
    const outcome = await guardedFetch(
      `http://site.test:${site.port}/`,
      { network: [`site.test:${site.port}`], maxBytes: 10_000 },
      BOOK,
    );
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "too-large" } });
  });

  test("is refused when its packing is broken", async () => {
    const site = await startSite((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end("this is not gzip");
    });
    const outcome = await guardedFetch(
      `http://site.test:${site.port}/`,
      { network: [`site.test:${site.port}`] },
      BOOK,
    );
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "unreachable" } });
  });
});

describe("a server that keeps one waiting is left", () => {
  const LIMITS = { timeoutMs: 150 };

  test("before it answers", async () => {
    const site = await startSite(() => undefined);
    const options = { ...LIMITS, network: [`site.test:${site.port}`] };
    const outcome = await guardedFetch(`http://site.test:${site.port}/`, options, BOOK);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "timeout" } });
  });

  test("in the middle of its answer", async () => {
    const site = await startSite((_, response) => void response.write("one byte at a time"));
    const options = { ...LIMITS, network: [`site.test:${site.port}`] };
    const outcome = await guardedFetch(`http://site.test:${site.port}/`, options, BOOK);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "timeout" } });
  });

  test("when its name is never resolved", async () => {
    const book = { ...BOOK, resolve: () => new Promise<never>(() => undefined) };
    const outcome = await guardedFetch("http://site.test/", { ...LIMITS, network: ["site.test"] }, book);
    expect(outcome).toMatchObject({ ok: false, refusal: { reason: "timeout" } });
  });
});
