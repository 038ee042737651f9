/** A `fetch` for one host that somebody else has named: what it reaches, and what it refuses. */
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { addressBook, PUBLIC, startSite } from "../../../../test/support/loopback-site.ts";
import { type AddressBook, SYSTEM_ADDRESSES } from "../../src/egress/check-destination.ts";
import { checkReachable, createHostFetch, EgressError } from "../../src/egress/host-fetch.ts";

const NOBODY: readonly string[] = [];

/** Nothing is public but what is: loopback is judged as it is. */
function leading(names: Readonly<Record<string, readonly string[]>>): AddressBook {
  return { ...SYSTEM_ADDRESSES, resolve: async (host) => names[host] ?? [] };
}

async function refusalOf(
  url: string,
  addresses: AddressBook = SYSTEM_ADDRESSES,
  privateHosts = NOBODY,
): Promise<string> {
  const written = await checkReachable(url, { addresses, privateHosts });
  const dialled = await createHostFetch(url, { addresses, privateHosts })(url).catch((fault) => fault);
  if (written.ok || !(dialled instanceof EgressError)) throw new Error(`${url} is not refused`);
  expect(dialled.refusal.reason).toBe(written.refusal.reason);
  return written.refusal.reason;
}

describe("addresses that are not public", () => {
  test.each([
    "https://127.0.0.1/v1",
    "https://127.1/v1",
    "https://2130706433/v1",
    "https://0x7f000001/v1",
    "https://0177.0.0.1/v1",
    "https://[::1]/v1",
    "https://[::ffff:127.0.0.1]/v1",
    "https://[::ffff:7f00:1]/v1",
    "https://[64:ff9b::7f00:1]/v1",
    "https://0.0.0.0/v1",
    "https://10.1.2.3/v1",
    "https://172.16.0.1/v1",
    "https://192.168.0.1:8443/v1",
    "https://100.64.0.1/v1",
    "https://169.254.169.254/latest",
    "https://168.63.129.16/v1",
    "https://[fe80::1]/v1",
    "https://[fd00::1]/v1",
    "https://192.0.2.1/v1",
    "https://224.0.0.1/v1",
  ])("%s is refused when it is written, and when it is dialled", async (url) => {
    expect(await refusalOf(url)).toBe("private-address");
  });

  test.each([
    "http://localhost:11434/v1",
    "https://metadata.google.internal/",
    "https://printer.local/",
    "https://db/",
  ])("%s is refused by its name alone", async (url) => {
    expect(await refusalOf(url)).toBe("local-name");
  });

  test.each([
    ["127.0.0.1"],
    ["::1"],
    ["::ffff:10.0.0.1"],
    ["169.254.169.254"],
    ["93.184.216.34", "10.0.0.1"],
  ])("a name that leads to %s is refused", async (...addresses) => {
    expect(await refusalOf("https://models.example/v1", leading({ "models.example": addresses }))).toBe(
      "private-address",
    );
  });
});

test("a name is resolved once for each request, and only what was checked is dialled", async () => {
  const site = await startSite((_, response) => void response.end("public"));
  const answers = [[PUBLIC], ["10.0.0.1"]];
  const asked: string[] = [];
  const addresses: AddressBook = {
    ...addressBook({}),
    async resolve(host) {
      asked.push(host);
      return answers.shift() ?? [];
    },
  };
  const url = `http://rebound.example:${site.port}/v1`;
  const privateHosts = [`rebound.example:${site.port}`];
  const ask = createHostFetch(url, { addresses: { ...addresses, isPrivate: () => false }, privateHosts });
  expect(await (await ask(url)).text()).toBe("public");
  await expect(ask(url)).rejects.toThrow("does not resolve to a public address");
  expect(asked).toEqual(["rebound.example", "rebound.example"]);
  expect(site.requests).toHaveLength(1);
});

test("a redirect is refused wherever it leads, and nothing is sent there", async () => {
  const inner = await startSite((_, response) => void response.end("inner"));
  const site = await startSite((_, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${inner.port}/secret` }).end();
  });
  const url = `http://localhost:${site.port}/v1`;
  const ask = createHostFetch(url, { privateHosts: [`localhost:${site.port}`] });
  await expect(ask(url, { method: "POST", body: "{}" })).rejects.toMatchObject({
    refusal: { reason: "redirects" },
  });
  expect(inner.requests).toEqual([]);
});

describe("hosts that the operator listed", () => {
  test("are asked with method, headers and body, and answer in a stream", async () => {
    let seen = "";
    const site = await startSite(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      seen = `${request.method} ${request.headers.authorization} ${Buffer.concat(chunks)}`;
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      response.end("data: 2\n\n");
    });
    const url = `http://127.0.0.1:${site.port}/v1/chat`;
    const ask = createHostFetch(url, { privateHosts: [`127.0.0.1:${site.port}`] });
    const response = await ask(url, {
      method: "POST",
      headers: { authorization: "Bearer k" },
      body: "hello",
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    expect(await response.text()).toBe("data: 1\n\ndata: 2\n\n");
    expect(seen).toBe("POST Bearer k hello");
  });

  test("are not reached at another port, nor is any other host", async () => {
    const other = await startSite((_, response) => void response.end());
    const privateHosts = ["127.0.0.1:1"];
    const ask = createHostFetch("http://127.0.0.1:1/", { privateHosts });
    await expect(ask(`http://127.0.0.1:${other.port}/`)).rejects.toMatchObject({
      refusal: { reason: "not-granted" },
    });
    expect(other.requests).toEqual([]);
  });

  test("by a name lead into a private network, and never to this machine or a metadata service", async () => {
    const privateHosts = ["models.corp"];
    const at = (address: string) =>
      checkReachable("https://models.corp/v1", {
        privateHosts,
        addresses: leading({ "models.corp": [address] }),
      });
    expect((await at("10.0.0.7")).ok).toBe(true);
    expect((await at("127.0.0.1")).ok).toBe(false);
    expect((await at("169.254.169.254")).ok).toBe(false);
  });
});

test("plain http is refused for a public host: the key would be read on its way", async () => {
  const addresses = leading({ "models.example": ["93.184.216.34"] });
  expect(await refusalOf("http://models.example/v1", addresses)).toBe("insecure");
});

test("an answer that is packed, and one that never comes, are faults", async () => {
  const site = await startSite((_, response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end("x");
  });
  const url = `http://127.0.0.1:${site.port}/`;
  const ask = createHostFetch(url, { privateHosts: [`127.0.0.1:${site.port}`] });
  await expect(ask(url)).rejects.toThrow("compressed its answer as `gzip`");
  const silent = createServer((socket) => void socket.on("data", () => socket.destroy()));
  await new Promise<void>((resolve) => silent.listen(0, PUBLIC, resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as { readonly port: number };
  const closed = `http://127.0.0.1:${port}/`;
  await expect(createHostFetch(closed, { privateHosts: [`127.0.0.1:${port}`] })(closed)).rejects.toThrow();
  const stop = new AbortController();
  stop.abort();
  await expect(ask(url, { signal: stop.signal })).rejects.toThrow();
});
