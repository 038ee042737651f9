/** A user's approval of a server's skill: for exactly the files that the server declares, for that server and that URI. */
import { expect, test } from "vitest";
import { createListeningWorld, type ShelvedSkill, type ShelvedWorld, shelved } from "../support/mcp-shelf.ts";
import { skill } from "../support/world.ts";

const DEPLOY = shelved("deploy", { "references/a.md": "One.\n" }, { "allowed-tools": "Read" });

async function openApproved(): Promise<ShelvedWorld> {
  const world = await createListeningWorld({ skills: [DEPLOY] });
  await world.cli("remote", "refresh");
  expect((await world.cli("remote", "approve", "docs:deploy")).code).toBe(0);
  world.asked();
  return world;
}

async function trustOf(world: ShelvedWorld, name = "docs:deploy"): Promise<readonly [string, string]> {
  const { json } = await world.cli("show", name, "--json");
  return [json.trust, json.trustReason];
}

test("an approval needs no file to be fetched, and holds over restarts and use", async () => {
  const world = await openApproved();
  expect(await trustOf(world)).toEqual(["trusted", expect.stringContaining("You approved it")]);
  expect(world.asked()).toEqual([]);
  const prepared = await (await world.metier()).prepare({ skill: "docs:deploy" });
  expect(prepared).toMatchObject({ ok: true, prepared: { trust: { level: "trusted" } } });
});

const CHANGES: Readonly<Record<string, readonly [ShelvedSkill, string]>> = {
  "a file that changed": [
    { ...DEPLOY, files: { ...DEPLOY.files, "references/a.md": "Two.\n" } },
    "`references/a.md` was changed",
  ],
  "a file that was added": [
    { ...DEPLOY, files: { ...DEPLOY.files, "scripts/new.sh": "echo\n" } },
    "`scripts/new.sh` was added",
  ],
  "a file that was removed": [
    { ...DEPLOY, files: { "SKILL.md": DEPLOY.files["SKILL.md"] ?? "" } },
    "`references/a.md` was removed",
  ],
};

for (const [title, [changed, reason]] of Object.entries(CHANGES)) {
  test(`${title} ends the approval, says so, and can be approved again`, async () => {
    const world = await openApproved();
    world.shelve({ skills: [changed] });
    const refreshed = await world.cli("remote", "refresh");
    expect(refreshed.stdout).toContain("no longer approved  docs:deploy");
    expect(await trustOf(world)).toEqual(["untrusted", expect.stringContaining(reason)]);
    const again = await world.cli("trust", "docs:deploy");
    expect(again.stdout).toContain("from the MCP server docs");
    expect((await trustOf(world))[0]).toBe("trusted");
  });
}

test("a server that changes between approval and use is noticed by the use", async () => {
  const world = await createListeningWorld({ skills: [DEPLOY], ttlMs: 0 });
  const metier = await world.metier();
  await metier.remote.refresh();
  await metier.remote.approve("docs:deploy");
  const files = { ...DEPLOY.files, "references/a.md": "Two.\n" };
  world.shelve({ skills: [{ ...DEPLOY, files }], ttlMs: 0 });
  const prepared = await metier.prepare({ skill: "docs:deploy" });
  expect(prepared).toMatchObject({
    ok: true,
    prepared: {
      trust: { level: "untrusted", reason: expect.stringContaining("`references/a.md` was changed") },
    },
  });
  world.shelve({ skills: [{ ...DEPLOY, sent: { "SKILL.md": "Something else." } }], ttlMs: 60_000 });
  await metier.remote.refresh();
  await metier.remote.forget("docs:deploy");
  expect(await metier.prepare({ skill: "docs:deploy" })).toMatchObject({
    ok: false,
    refusal: { reason: "unreadable", message: expect.stringContaining("it has 15 bytes") },
  });
});

test("an approval is for one server and one URI, not for the same bytes from elsewhere", async () => {
  const world = await createListeningWorld({ skills: [DEPLOY] });
  const text = DEPLOY.files["SKILL.md"] ?? "";
  const folder = { "project/team/deploy/SKILL.md": text, "project/team/deploy/references/a.md": "One.\n" };
  world.write(folder);
  await world.cli("remote", "refresh");
  await world.cli("trust", "custom:deploy", "--path", "team");
  expect((await trustOf(world))[0]).toBe("untrusted");
  await world.cli("remote", "approve", "docs:deploy");
  await world.cli("untrust", "deploy");
  expect((await trustOf(world))[0]).toBe("trusted");
  const { json } = await world.cli("list", "--path", "team", "--scope", "custom", "--json");
  expect(json.skills).toMatchObject([{ name: "deploy", trust: "untrusted" }]);
  world.shelve({ skills: [{ ...DEPLOY, uri: "skill://elsewhere/deploy/SKILL.md" }] });
  await world.cli("remote", "refresh");
  expect((await trustOf(world))[0]).toBe("untrusted");
});

test("no trusted path trusts what a server sent, wherever it is kept", async () => {
  const world = await createListeningWorld({ skills: [DEPLOY] });
  await world.cli("remote", "refresh");
  const metier = await world.metier({ trustedPaths: [world.home] });
  expect(metier.require("docs:deploy").trust.level).toBe("untrusted");
  expect(await metier.prepare({ skill: "docs:deploy" })).toMatchObject({
    prepared: { trust: { level: "untrusted" } },
  });
});

test("an approval covers no skill that lies within the approved one", async () => {
  const outer = shelved("outer", { "inner/SKILL.md": skill("inner", "allowed-tools: Bash") });
  const inner = { ...shelved("inner"), uri: "skill://outer/inner/SKILL.md" };
  const world = await createListeningWorld({ skills: [outer, inner] });
  await world.cli("remote", "refresh");
  await world.cli("remote", "approve", "docs:outer");
  expect((await trustOf(world, "docs:outer"))[0]).toBe("trusted");
  expect((await trustOf(world, "docs:inner"))[0]).toBe("untrusted");
  const metier = await world.metier();
  await metier.getInstructions("docs:outer");
  expect(metier.names({ scope: "remote" })).toEqual(["docs:inner", "docs:outer"]);
});

test("only a server's skill is approved this way", async () => {
  const world = await openApproved();
  world.write({ "home/.metier/skills/mine/SKILL.md": skill("mine") });
  const { code, stderr } = await world.cli("remote", "approve", "mine");
  expect([code, stderr]).toEqual([2, expect.stringContaining("not a skill of an MCP server")]);
  expect((await world.cli("remote", "approve", "docs:nothing")).code).toBe(1);
  expect((await world.cli("remote", "dance")).stderr).toContain("is not an action of `metier remote`");
});
