/** The broker as a whole: what it lists, what it finds missing, what it says of its providers. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ALICE, BOB, offer, openPostOffice, wireProvider } from "../../../test/support/capability-broker.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { verifies } from "../../../test/support/verifies.ts";
import { createBroker } from "../src/create-broker.ts";

const CLOCK = {
  id: "post.clock",
  description: "The time.",
  operations: [{ name: "now", description: "Tells the time." }],
};

verifies("case 118", "a list leaves out what is not for the chat, unless all is asked for", async () => {
  const { broker } = openPostOffice();
  const ids = async (...given: Parameters<typeof broker.list>): Promise<readonly string[]> =>
    (await broker.list(...given)).map(({ id, available }) => `${id} ${available}`);
  expect(await ids(ALICE)).toEqual(["post.clock true", "post.mail true"]);
  expect(await ids({ ...ALICE, chatType: "group" })).toEqual(["post.clock true"]);
  expect(await ids({ ...ALICE, chatType: "group" }, { all: true })).toEqual([
    "post.clock true",
    "post.mail false",
  ]);
});

verifies(
  "case 120",
  "a list shows each user their own accounts, without what belongs to the provider",
  async () => {
    const { broker, link } = openPostOffice();
    const names = { accountName: "Work", accountEmail: "ann@work.example" };
    await link(ALICE, "a1", {
      ...names,
      credentialMaterial: { credential_ref: "vlt_1" },
      metadata: { x: 1 },
    });
    const mail = async (caller: typeof ALICE) => (await broker.list(caller, { all: true })).at(-1);
    expect(await mail(ALICE)).toMatchObject({
      id: "post.mail",
      description: "Letters of the user.",
      sensitive: true,
      allowedChatTypes: ["private"],
      available: true,
      requiresAuth: true,
      authenticated: true,
      linkedAccounts: [{ accountRef: "a1", ...names, createdAt: "2026-01-01T00:00:00.000Z" }],
    });
    expect(JSON.stringify(await mail(ALICE))).not.toContain("vlt_1");
    expect(await mail(BOB)).toMatchObject({ authenticated: false, linkedAccounts: [] });
    expect(await mail({ ...ALICE, chatType: "group" })).toMatchObject({
      available: false,
      linkedAccounts: [],
    });
  },
);

verifies(173, "a run sees what its skill declares, by id, and nothing of how it is wired", async () => {
  const { broker } = openPostOffice();
  const caller = { ...ALICE, skill: "letters", declared: ["post.mail"] };
  const listed = await broker.list(caller, { all: true });
  expect(listed.map(({ id }) => id)).toEqual(["post.mail"]);
  expect(Object.keys(listed[0] ?? {}).sort()).toEqual([
    "allowedChatTypes",
    "authenticated",
    "available",
    "description",
    "id",
    "linkedAccounts",
    "operations",
    "requiresAuth",
    "sensitive",
  ]);
});

test("a run is not kept waiting by a provider that it does not need", async () => {
  const hanging = wireProvider({ ...offer("slow", []), definitions: () => new Promise(() => undefined) });
  const base = temporaryFolder();
  const broker = createBroker({
    providers: [hanging, wireProvider(offer("post", [CLOCK]))],
    places: { base, state: join(base, "state") },
  });
  const listed = await broker.list({ ...ALICE, declared: ["post.none", "post.clock", "post.clock"] });
  expect(listed.map(({ id }) => id)).toEqual(["post.clock"]);
  await broker.close();
});

test("what a skill needs is looked for before it runs; a missing sign-in is no reason", async () => {
  const { broker } = openPostOffice();
  expect(await broker.preflight(["post.mail", "post.clock"], ALICE)).toBeUndefined();
  expect(await broker.preflight([], ALICE)).toBeUndefined();
  expect((await broker.preflight(["post.clock", "gog.email"], ALICE))?.code).toBe("capability_not_found");
  expect((await broker.preflight(["post.mail"], { userId: "alice", chatType: "group" }))?.code).toBe(
    "capability_access_denied",
  );
});

test("nothing is written before the first call, and closing is harmless", async () => {
  const { broker, folder } = openPostOffice();
  expect(existsSync(folder)).toBe(false);
  expect(await broker.providers()).toEqual([
    {
      name: "post",
      namespace: "post",
      kind: "in-process",
      origin: "program",
      capabilities: ["post.clock", "post.mail"],
    },
  ]);
  await broker.close();
  expect(existsSync(folder)).toBe(false);
});
