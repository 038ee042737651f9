/** Model providers of tenants over HTTP, on each store; and which addresses pass. */
import { describe, expect, test } from "vitest";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { openOwnModels, readOwnModels } from "../src/providers/model-access.ts";
import { readPrivateHosts } from "../src/providers/private-hosts.ts";
import { providerSuite } from "./suites/provider-suite.ts";
import { openService } from "./support/open-service.ts";
import { openPostgresStores } from "./support/postgres-stores.ts";
import { ACME, leading, openWithSecret, PUBLIC, putProvider as put } from "./support/providers.ts";

describe("on SQLite", () => providerSuite(openService));

describeWithPostgres("on Postgres", () =>
  providerSuite((options) => openService({ openStores: openPostgresStores, ...options })),
);

describe("an address of a tenant", () => {
  test.each([
    "https://127.0.0.1/v1",
    "https://2130706433/v1",
    "https://0177.0.0.1/v1",
    "https://[::ffff:127.0.0.1]/v1",
    "https://10.0.0.7:8000/v1",
    "https://169.254.169.254/latest/meta-data",
    "https://localhost/v1",
    "https://inner.example/v1",
    "https://unknown.example/v1",
    "http://models.acme.example/v1",
    "https://user:password@models.acme.example/v1",
    "file:///etc/passwd",
    "nonsense",
  ])("%s is refused", async (baseUrl) => {
    const service = await openWithSecret();
    const { status, body, text } = await put(service, "acme", { ...ACME, baseUrl });
    expect([status, body.error?.code]).toEqual([422, "address_refused"]);
    expect(text).not.toContain("127.0.0.1, ");
    expect((await service.call("GET", "/v1/providers")).body.data).toEqual([]);
  });

  test("tells the same whether a name of the service's network is there or not", async () => {
    const service = await openWithSecret();
    const say = async (host: string) =>
      String((await put(service, "acme", { ...ACME, baseUrl: `https://${host}/` })).body.error?.message);
    expect(await say("inner.example")).toBe("`inner.example` does not resolve to a public address.");
    expect(await say("unknown.example")).toBe("`unknown.example` does not resolve to a public address.");
  });

  test("may be private where an operator listed its host and port", async () => {
    const egress = { privateHosts: ["10.0.0.7:8000"], addresses: PUBLIC };
    const service = await openWithSecret({ egress });
    expect((await put(service, "acme", { ...ACME, baseUrl: "http://10.0.0.7:8000/v1" })).status).toBe(200);
    expect((await put(service, "acme", { ...ACME, baseUrl: "http://10.0.0.7:8001/v1" })).status).toBe(422);
  });

  test("is checked again when it is dialled: a name that has moved since is not reached", async () => {
    const names: Record<string, readonly string[]> = { "models.acme.example": ["93.184.216.34"] };
    const egress = { privateHosts: [], addresses: leading(names) };
    const service = await openWithSecret({ egress });
    await put(service, "acme", ACME);
    names["models.acme.example"] = ["127.0.0.1"];
    const { records } = service.store;
    const own = openOwnModels(await readOwnModels(records, "default"), { ACME_KEY: "sk" }, egress);
    const [provider] = own?.providers ?? [];
    await expect(provider?.fetch(`${ACME.baseUrl}/chat/completions`)).rejects.toThrow(
      "does not resolve to a public address",
    );
    await expect(provider?.fetch("https://elsewhere.example/")).rejects.toThrow("not granted");
  });
});

test("METIER_PRIVATE_HOSTS is a list of hosts, and anything else refuses the start", () => {
  const read = (text?: string) => readPrivateHosts(text === undefined ? {} : { METIER_PRIVATE_HOSTS: text });
  expect(read()).toMatchObject({ ok: true, value: [] });
  expect(read(" models.corp , 10.0.0.7:8000,[fd00::1]:80")).toMatchObject({
    value: ["models.corp", "10.0.0.7:8000", "[fd00::1]:80"],
  });
  for (const wrong of ["*", "http://models.corp", "a b", "models.corp:99999", "*:80", "10.0.0.0/8"]) {
    expect([wrong, read(`ok.corp,${wrong}`).ok]).toEqual([wrong, false]);
  }
});
