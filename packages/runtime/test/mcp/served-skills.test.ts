/** Which skills the Skills extension serves, to whom, and what it says about those it leaves out. */
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { expect, test } from "vitest";
import { STEALING } from "../../../../test/support/installing.ts";
import { type ServedWorld, serve } from "../../../../test/support/mcp-clients.ts";
import { createListeningWorld, shelved } from "../../../../test/support/mcp-shelf.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";
import type { McpServerOptions } from "../../src/mcp/mcp-server.ts";
import type { MetierOptions } from "../../src/runtime/metier-options.ts";

const SKILLS = "home/.metier/skills";

async function open(
  world: World,
  options: McpServerOptions = {},
  metierOptions: MetierOptions = {},
): Promise<ServedWorld & { readonly skills: SkillsClient; names(): Promise<readonly string[]> }> {
  const served = await serve(await world.metier(metierOptions), options);
  const skills = new SkillsClient(await served.connect());
  const names = async (): Promise<readonly string[]> =>
    (await skills.list()).skills.map(({ frontmatter }) => frontmatter.name);
  return { ...served, skills, names };
}

test("a skill beyond the limits is left out, and why is said once", async () => {
  const world = createWorld();
  const many = Array.from({ length: 512 }, (_, number) => [`${SKILLS}/many/f${number}.txt`, ""] as const);
  world.write({
    ...Object.fromEntries(many),
    [`${SKILLS}/many/SKILL.md`]: skill("many"),
    [`${SKILLS}/large/SKILL.md`]: skill("large"),
    [`${SKILLS}/small/SKILL.md`]: skill("small"),
  });
  writeFileSync(join(world.root, SKILLS, "large", "data.bin"), Buffer.alloc(16 * 1024 * 1024));
  const { names, diagnostics } = await open(world);
  expect(await names()).toEqual(["small"]);
  expect(await names()).toEqual(["small"]);
  expect(diagnostics.map(({ code, message }) => ({ code, message }))).toEqual([
    { code: "mcp.not-served", message: expect.stringContaining("Skill `large` is not in") },
    { code: "mcp.not-served", message: expect.stringContaining("it has 513 files; the limit is 512") },
  ]);
});

test("a skill whose frontmatter a client would read otherwise, or not at all, is left out", async () => {
  const world = createWorld();
  world.write({
    [`${SKILLS}/repaired/SKILL.md`]: "---\nname: repaired\ndescription: Use it: now\n---\n\nGo.\n",
    [`${SKILLS}/nameless/SKILL.md`]: "---\ndescription: Has no name.\n---\n\nGo.\n",
    [`${SKILLS}/shouting/SKILL.md`]: "---\nname: PDF Processing\ndescription: Has a loud name.\n---\n\nGo.\n",
    [`${SKILLS}/good/SKILL.md`]: skill("good"),
    // YAML as it may be, though the SDK's own reader does not know it.
    [`${SKILLS}/folded/SKILL.md`]: '---\nname: folded\ndescription: "Over\n  two lines."\n---\n\nGo.\n',
  });
  const { names, diagnostics } = await open(world);
  expect(await names()).toEqual(["folded", "good"]);
  expect(diagnostics.map(({ message }) => message.replace(/:.*/s, ""))).toEqual([
    "Skill `nameless` is not in `skills/list`",
    "Skill `pdf-processing` is not in `skills/list`",
    "Skill `repaired` is not in `skills/list`",
  ]);
});

test("a skill with a link in it is left out, wherever the link leads", async () => {
  const world = createWorld();
  world.write({ [`${SKILLS}/linked/SKILL.md`]: skill("linked"), "secret.txt": "private" });
  symlinkSync(join(world.root, "secret.txt"), join(world.root, SKILLS, "linked", "notes.txt"));
  const { names, diagnostics } = await open(world);
  expect(await names()).toEqual([]);
  expect(diagnostics[0]?.message).toContain("`notes.txt` is a link");
});

test("skills without a folder of their own are served as one file that is written for it", async () => {
  const world = createWorld();
  world.write({
    [`${SKILLS}/flat.md`]: skill("flat", "", "Flat body."),
    [`${SKILLS}/plain.yaml`]: 'name: plain\ndescription: "A YAML skill: yes."\ninstructions: YAML body.\n',
  });
  const given = { name: "given", description: "Given as an object.", instructions: "Object body." };
  const { skills, names } = await open(world, {}, { integrations: [given] });
  expect(await names()).toEqual(["flat", "given", "plain"]);
  const bodies: (string | undefined)[] = [];
  for (const entry of (await skills.list()).skills) bodies.push((await skills.read(entry)).body?.trim());
  expect(bodies).toEqual(["Flat body.", "Object body.", "YAML body."]);
});

test("a file that changes is served with its new digest", async () => {
  const world = createWorld();
  world.write({ [`${SKILLS}/notes/SKILL.md`]: skill("notes"), [`${SKILLS}/notes/a.txt`]: "one" });
  const { skills } = await open(world);
  const before = (await skills.get("skill://notes/SKILL.md")).skill;
  world.write({ [`${SKILLS}/notes/a.txt`]: "two!" });
  await expect(skills.read(before, "a.txt", { cacheMode: "refresh" })).rejects.toThrow(
    "the skill entry lists 3",
  );
  const after = (await skills.get("skill://notes/SKILL.md")).skill;
  expect((await skills.read(after, "a.txt", { cacheMode: "refresh" })).text).toBe("two!");
});

test("skills that are not for this caller are neither listed nor read", async () => {
  const world = createWorld();
  world.write({
    [`${SKILLS}/diary/SKILL.md`]: skill("diary", "sensitive: true"),
    [`${SKILLS}/team/SKILL.md`]: skill("team", "access: { chat-types: [group] }"),
    [`${SKILLS}/mine/SKILL.md`]: skill("mine", "disable-model-invocation: true"),
    [`${SKILLS}/open/SKILL.md`]: skill("open"),
  });
  const nobody = await open(world);
  expect(await nobody.names()).toEqual(["open"]);
  for (const name of ["diary", "team", "mine"]) {
    await expect(nobody.skills.get(`skill://${name}/SKILL.md`)).rejects.toThrow("No skill is served");
    const client = await nobody.connect();
    await expect(client.readResource({ uri: `skill://${name}/SKILL.md` })).rejects.toThrow("not found");
  }
  expect(await (await open(world, { caller: { chatType: "private" } })).names()).toEqual(["diary", "open"]);
  expect(await (await open(world, { caller: { chatType: "group" } })).names()).toEqual(["open", "team"]);
});

test("an untrusted skill is marked, a trusted one is not", async () => {
  const world = createWorld();
  world.write({
    [`${SKILLS}/own/SKILL.md`]: skill("own"),
    "project/.claude/skills/theirs/SKILL.md": skill("theirs"),
  });
  const { skills } = await open(world, {}, { trust: "grants" });
  const marks = (await skills.list()).skills.map(({ frontmatter, _meta }) => [frontmatter.name, _meta]);
  expect(marks).toEqual([
    ["own", undefined],
    ["theirs", { "metier/trust": "untrusted" }],
  ]);
});

test("an untrusted skill that the scan holds back is not served", async () => {
  const world = createWorld();
  world.write({
    "project/.claude/skills/thief/SKILL.md": skill("thief"),
    "project/.claude/skills/thief/scripts/go.sh": STEALING,
  });
  const { names, diagnostics } = await open(world, {}, { trust: "grants" });
  expect(await names()).toEqual([]);
  expect(diagnostics.map(({ code }) => code)).toEqual(["mcp.not-served"]);
});

test("a skill of an MCP server is neither fetched for a list nor passed on", async () => {
  const world = await createListeningWorld({ skills: [shelved("borrowed")], ttlMs: 0 });
  world.write({ [`${SKILLS}/own/SKILL.md`]: skill("own") });
  await world.cli("remote", "refresh");
  world.asked();
  const { names, skills, connect, diagnostics } = await open(world);
  expect(await names()).toEqual(["own"]);
  const { resources } = await (await connect()).listResources();
  expect(resources.map(({ name }) => name)).toEqual(["own"]);
  for (const uri of ["skill://borrowed/SKILL.md", "skill://docs:borrowed/SKILL.md"]) {
    await expect(skills.get(uri)).rejects.toThrow();
  }
  expect(world.asked()).toEqual([]);
  expect(diagnostics.map(({ message }) => message)).toEqual([
    expect.stringContaining("it comes from another MCP server"),
  ]);
});

test.each([
  "skill://notes/../../../../etc/passwd",
  "skill://notes/%2e%2e/%2e%2e/secret.txt",
  "skill://notes/..%2f..%2fsecret.txt",
  "skill://notes/a.txt%00",
  "skill://notes/a.txt?x=1",
  "skill://notes/a.txt#x",
  "skill://notes/",
  "skill://notes",
  "skill://user@notes/a.txt",
  "skill://notes:80/a.txt",
  "skill://other/a.txt",
  "skill:///notes/a.txt",
  "file:///etc/passwd",
  "not a uri",
])("nothing is read at %s", async (uri) => {
  const world = createWorld();
  world.write({
    [`${SKILLS}/notes/SKILL.md`]: skill("notes"),
    [`${SKILLS}/notes/a.txt`]: "a",
    [`${SKILLS}/secret.txt`]: "hidden",
  });
  const { connect, skills } = await open(world);
  const client = await connect();
  await expect(client.readResource({ uri })).rejects.toThrow(/not found|is invalid/i);
  await expect(skills.get(uri)).rejects.toThrow();
});
