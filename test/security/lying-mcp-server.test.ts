/** An MCP server that lies about its skills is refused, each time with the reason, and nothing that it lied about is used. */
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  createListeningWorld,
  createShelvedWorld,
  type McpShelf,
  type ShelvedSkill,
  shelved,
} from "../support/mcp-shelf.ts";

const HONEST = shelved("honest");
const VICTIM = shelved("victim", { "references/a.md": "As declared.\n" });
const DIGEST = `sha256:${"0".repeat(64)}`;

function resource(uri: string, size = 1): object {
  return { uri, digest: DIGEST, size };
}

function withFiles(...uris: readonly string[]): ShelvedSkill {
  const own = resource(VICTIM.uri);
  return { ...VICTIM, entry: { resources: [own, ...uris.map((uri) => resource(uri))] } };
}

/** What an entry declares against the rules: refused from the list, nothing is fetched. */
const ENTRIES: Readonly<Record<string, readonly [ShelvedSkill, string, RegExp]>> = {
  "no list of files": [{ ...VICTIM, entry: { resources: null } }, "remote.entry", /no `resources` list/],
  "files without digests": [{ ...VICTIM, entry: { resources: "dynamic" } }, "remote.dynamic", /no digests/],
  "a list without its own SKILL.md": [
    { ...VICTIM, entry: { resources: [resource("skill://victim/a.md")] } },
    "remote.entry",
    /do not include its own `SKILL.md`/,
  ],
  "a digest in capital letters": [
    { ...VICTIM, entry: { resources: [{ uri: VICTIM.uri, digest: DIGEST.replace("0", "A"), size: 1 }] } },
    "remote.entry",
    /`digest` of/,
  ],
  "a size that is none": [
    { ...VICTIM, entry: { resources: [resource(VICTIM.uri, -1)] } },
    "remote.entry",
    /`size` of/,
  ],
  "600 files": [
    withFiles(...Array.from({ length: 599 }, (_, index) => `skill://victim/${index}.md`)),
    "remote.limit",
    /600 files; the limit is 512/,
  ],
  "17 MiB": [
    {
      ...VICTIM,
      entry: { resources: [resource(VICTIM.uri), resource("skill://victim/big.bin", 17 * 1024 * 1024)] },
    },
    "remote.limit",
    /17825793 bytes; the limit is 16777216/,
  ],
  "a file of another skill": [
    withFiles("skill://honest/SKILL.md"),
    "remote.entry",
    /outside the skill's folder/,
  ],
  "a path that goes up": [
    withFiles("skill://victim/../honest/SKILL.md"),
    "remote.entry",
    /may point outside/,
  ],
  "an encoded path that goes up": [
    withFiles("skill://victim/%2e%2e/x.md"),
    "remote.entry",
    /may point outside/,
  ],
  "an encoded separator": [withFiles("skill://victim/a%2fb.md"), "remote.entry", /may point outside/],
  "a control character": [withFiles("skill://victim/a%0Ab.md"), "remote.entry", /control character/],
  "an absolute file": [withFiles("file:///etc/passwd"), "remote.entry", /outside the skill's folder/],
  "a query": [withFiles("skill://victim/a.md?x=1"), "remote.entry", /without query/],
  "a file twice": [
    withFiles("skill://victim/a.md", "skill://victim/%61.md"),
    "remote.entry",
    /more than once/,
  ],
  "a file that is a folder": [
    withFiles("skill://victim/a", "skill://victim/a/b"),
    "remote.entry",
    /as a folder/,
  ],
  "another name than its URI": [
    { ...VICTIM, frontmatter: { ...VICTIM.frontmatter, name: "other" } },
    "remote.entry",
    /its `name` is `other`, but its URI ends in `victim`/,
  ],
  "a name outside the grammar": [
    { ...VICTIM, uri: "skill://Victim/SKILL.md", frontmatter: { ...VICTIM.frontmatter, name: "Victim" } },
    "remote.entry",
    /`name` does not consist of at most 64 lowercase letters/,
  ],
  "no frontmatter": [{ ...VICTIM, entry: { frontmatter: null } }, "remote.entry", /no `frontmatter`/],
  "a URI of no skill file": [
    { ...VICTIM, uri: "skill://victim/README.md" },
    "remote.entry",
    /does not end with/,
  ],
};

/** What is not as declared when it comes: the skill is refused by its use. */
const FILES: Readonly<Record<string, readonly [Partial<ShelvedSkill>, string, RegExp]>> = {
  "another content": [
    { sent: { "references/a.md": "Not declared\n" } },
    "remote.digest",
    /a\.md` from the MCP server `docs` was refused: its digest is/,
  ],
  "another SKILL.md": [
    { sent: { "SKILL.md": VICTIM.files["SKILL.md"]?.replace("quokka", "wombat") ?? "" } },
    "remote.digest",
    /SKILL\.md` from the MCP server `docs` was refused: its digest is/,
  ],
  "another size": [{ sent: { "references/a.md": "Longer than declared.\n" } }, "remote.size", /22 bytes.*13/],
  "a frontmatter that the entry lacks": [
    { frontmatter: { name: "victim", description: "Harmless." } },
    "remote.frontmatter",
    /`description` differ/,
  ],
  "a frontmatter with another field": [
    { frontmatter: { ...VICTIM.frontmatter, "allowed-tools": "Read" } },
    "remote.frontmatter",
    /`allowed-tools` differ/,
  ],
  "another URI than was asked for": [
    { redirects: { "references/a.md": "skill://honest/SKILL.md" } },
    "remote.redirect",
    /returned `skill:\/\/honest\/SKILL.md` instead/,
  ],
  "more than was asked for": [
    { extra: ["skill://victim/unlisted.md"] },
    "remote.redirect",
    /returned `skill:\/\/victim\/unlisted.md` instead/,
  ],
  "no file at all": [
    { missing: ["references/a.md"] },
    "remote.not-found",
    /There is no skill:\/\/liar-\d+\/victim\/references\/a.md/,
  ],
};

describe("an entry of the list", () => {
  test("that breaks a rule is refused with the reason, and the honest one beside it is not", async () => {
    const liars = Object.values(ENTRIES).map(([skill], index) => moveTo(`liar-${index}`, skill));
    const world = await createListeningWorld({ skills: [HONEST, ...liars] });
    const { json } = await world.cli("remote", "refresh", "--json");
    const [{ skills, refused }] = json.servers;
    expect(skills).toBe(1);
    for (const [index, [title, [, code, reason]]] of Object.entries(ENTRIES).entries()) {
      expect(refused[index], title).toMatchObject({ code, message: expect.stringMatching(reason) });
    }
    expect(world.asked()).toEqual(["skills/list"]);
    const listed = await world.cli("list", "--json");
    expect(listed.json.diagnostics).toContainEqual(expect.objectContaining({ code: "remote.dynamic" }));
    expect(listed.json.skills).toContainEqual(expect.objectContaining({ name: "docs:honest" }));
  });

  test("whose URI stands twice is refused both times", async () => {
    const world = createShelvedWorld({ skills: [HONEST, VICTIM, VICTIM] });
    const { json } = await world.cli("remote", "refresh", "--json");
    expect(json.servers[0].skills).toBe(1);
    expect(json.servers[0].refused).toHaveLength(2);
    expect(json.servers[0].refused[0].message).toContain("its URI is listed more than once");
  });
});

/** The same lie under a path of its own, so that many stand in one list. */
function moveTo(folder: string, skill: ShelvedSkill): ShelvedSkill {
  const text = JSON.stringify(skill).replaceAll("skill://", `skill://${folder}/`);
  return JSON.parse(text) as ShelvedSkill;
}

describe("a list", () => {
  const refused = async (shelf: McpShelf): Promise<readonly [number, string]> => {
    const world = createShelvedWorld({ skills: [HONEST] });
    await world.cli("remote", "refresh");
    world.shelve(shelf);
    const { code, stderr } = await world.cli("remote", "refresh");
    expect((await world.cli("list", "--scope", "remote")).stdout).toContain("docs:honest");
    return [code, stderr];
  };

  test("without an end is refused, and what was known before stays", async () => {
    expect(await refused({ skills: [HONEST], pages: "endless" })).toEqual([
      5,
      expect.stringContaining("it has more than 64 pages"),
    ]);
  });

  test("that leads back to its beginning is refused", async () => {
    const [code, text] = await refused({ skills: [HONEST], pages: "loop" });
    expect([code, text]).toEqual([5, expect.stringContaining("a page links back to an earlier one")]);
    expect(text).toContain("remote.endless-list");
  });
});

describe("a skill", () => {
  test("that does not come as declared is not used, and the reason names the file", async () => {
    const liars = Object.values(FILES).map(([lie], index) => ({
      ...VICTIM,
      uri: `skill://liar-${index}/victim/SKILL.md`,
      ...lie,
    }));
    const world = await createListeningWorld({ skills: [HONEST, ...liars] });
    const metier = await world.metier();
    await metier.remote.refresh();
    for (const [index, [title, [, code, reason]]] of Object.entries(FILES).entries()) {
      const uri = liars[index]?.uri;
      const skill = metier.list().find(({ remote }) => remote?.uri === uri) ?? never(title);
      const refused = await metier.remote.load(skill.name).catch((error: unknown) => error);
      expect(refused, title).toMatchObject({
        message: expect.stringMatching(reason),
        diagnostics: [{ code }],
      });
      expect(existsSync(skill.location), title).toBe(false);
    }
    const [liar = never("liar")] = metier
      .list({ scope: "remote" })
      .filter(({ name }) => name !== "docs:honest");
    const refusal = await metier.prepare({ skill: liar.name });
    expect(refusal).toMatchObject({ ok: false, refusal: { reason: "unreadable" } });
    expect((await metier.getInstructions("docs:honest")).text).toContain("quokka-honest");
  });

  test("whose files are wrong one by one is refused file by file", async () => {
    const files = Object.fromEntries([1, 2, 3].map((index) => [`${index}.md`, `File ${index}.`]));
    const wrong = { "1.md": "Lies 1.", "3.md": "Lies, more of them." };
    const world = createShelvedWorld({ skills: [{ ...shelved("victim", files), sent: wrong }] });
    await world.cli("remote", "refresh");
    const { stderr } = await world.cli("read", "docs:victim");
    expect(stderr).toMatch(/1\.md` from the MCP server `docs` was refused: its digest is/);
    expect(stderr).toMatch(/3\.md` from the MCP server `docs` was refused: it has 19 bytes/);
    expect(stderr).not.toContain("2.md");
  });

  test("that was fetched before is refused when its server declares another frontmatter for the same bytes", async () => {
    const world = await createListeningWorld({ skills: [VICTIM] });
    const metier = await world.metier();
    await metier.remote.refresh();
    await metier.getInstructions("docs:victim");
    const frontmatter = { ...VICTIM.frontmatter, description: "Use it for everything." };
    world.shelve({ skills: [{ ...VICTIM, frontmatter }] });
    await metier.remote.refresh();
    await expect(metier.getInstructions("docs:victim")).rejects.toThrow("`description` differ");
  });

  test("by whose name another one answers `skills/get` is refused", async () => {
    const world = createShelvedWorld({ skills: [HONEST] });
    world.shelve({ skills: [{ ...HONEST, entry: { uri: "skill://elsewhere/SKILL.md" } }] });
    const { code, stderr } = await world.cli("remote", "add", "docs", HONEST.uri);
    expect([code, stderr]).toEqual([1, expect.stringContaining("remote.")]);
  });
});

describe("a server", () => {
  test("that hangs is given up at its timeout, and the others go on", async () => {
    const world = createShelvedWorld({ skills: [HONEST], hangs: "skills/list" }, "timeout-seconds = 1\n");
    const { code, json } = await world.cli("remote", "refresh", "--json");
    expect(code).toBe(5);
    expect(json.servers).toMatchObject([{ ok: false, diagnostic: { code: "remote.unreachable" } }]);
  });

  test("that dies says so with its last words, without its secrets", async () => {
    const secret = "the-key-of-the-shelf";
    const env = `[mcp.servers.docs.env]\nSHELF_KEY = "${secret}"\n`;
    const world = createShelvedWorld({ skills: [HONEST], dies: "skills/list" }, env);
    const { stderr } = await world.cli("remote", "refresh");
    expect(stderr).toMatch(/The MCP server `docs` \(`[^`]+`\) exited with code 9\./);
    expect(stderr).toContain("the shelf fell over, with [redacted:SHELF_KEY]");
    expect(stderr).not.toContain(secret);
    expect(stderr).not.toContain("provider");
  });

  test("that knows no skills, or is not there, is named with what to do", async () => {
    const world = createShelvedWorld({ skills: [], hasNoSkills: true });
    expect((await world.cli("remote", "refresh")).stderr).toContain("does not declare the extension");
    world.write({ "home/.metier/config.toml": '[mcp.servers.docs]\ncommand = ["no-such-server"]\n' });
    expect((await world.cli("remote", "refresh")).stderr).toMatch(
      /`no-such-server`.*\[mcp\.servers\.docs\]/s,
    );
  });

  test("that redirects every request elsewhere is not followed", async () => {
    const world = await createListeningWorld({ skills: [HONEST] }, "sesame-open-now");
    world.shelve({ skills: [HONEST], redirectsTo: "http://127.0.0.1:1/mcp" });
    const { code, stderr } = await world.cli("remote", "refresh");
    expect([code, stderr]).toEqual([5, expect.stringContaining("redirects to `http://127.0.0.1:1/mcp`")]);
  });
});

function never(what: string): never {
  throw new Error(`There is no ${what}.`);
}
