/** Skills of MCP servers, from the config to the model: listed without asking, fetched when used, never in another's name. */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  createListeningWorld,
  createShelvedWorld,
  type ShelvedWorld,
  shelved,
} from "../support/mcp-shelf.ts";
import { skill } from "../support/world.ts";

const CODEWORD = shelved("codeword", { "references/notes.md": "Notes.\n", "scripts/run.sh": "echo ran\n" });

async function openRefreshed(
  ...skills: Parameters<ShelvedWorld["shelve"]>[0]["skills"]
): Promise<ShelvedWorld> {
  const world = await createListeningWorld({ skills });
  expect((await world.cli("remote", "refresh")).code).toBe(0);
  world.asked();
  return world;
}

describe("the skills of an MCP server", () => {
  test("are known once it was asked, and no file of them is fetched for it", async () => {
    const world = createShelvedWorld({ skills: [CODEWORD, shelved("other")], pageSize: 1 });
    const before = await world.cli("list", "--json");
    expect(before.json.diagnostics).toContainEqual(expect.objectContaining({ code: "remote.never-asked" }));
    expect(world.asked()).toEqual([]);
    const refreshed = await world.cli("remote", "refresh", "--json");
    expect(refreshed.json.servers).toMatchObject([{ label: "docs", ok: true, skills: 2, refused: [] }]);
    expect(world.asked()).toEqual(["skills/list", "skills/list 1"]);
    const { json } = await world.cli("list", "--scope", "remote", "--json");
    expect(json.skills).toMatchObject([
      { name: "docs:codeword", scope: "remote", trust: "untrusted", remote: { server: "docs" } },
      { name: "docs:other" },
    ]);
  });

  test("are listed offline, from a cache that only the user can read", async () => {
    const world = await openRefreshed(CODEWORD);
    world.shelve({ skills: [], fails: "server/discover" });
    expect((await world.cli("list", "--scope", "remote")).stdout).toContain("docs:codeword");
    expect(world.asked()).toEqual([]);
    const folder = join(world.home, ".metier", "cache", "mcp", "docs");
    expect(statSync(join(folder, "index.json")).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  test("are fetched by the first use, whole and verified, and kept for the next", async () => {
    const world = await openRefreshed(CODEWORD, shelved("other"));
    const read = await world.cli("read", "docs:codeword", "--wrapped");
    expect(read.stdout).toContain("quokka-codeword");
    expect(read.stdout).toContain("From the MCP server docs");
    expect(world.asked().toSorted()).toEqual([
      "resources/read skill://codeword/SKILL.md",
      "resources/read skill://codeword/references/notes.md",
      "resources/read skill://codeword/scripts/run.sh",
    ]);
    expect((await world.cli("read", "docs:codeword", "references/notes.md")).stdout).toBe("Notes.\n");
    expect(world.asked()).toEqual([]);
  });

  test("reach a model through tools, with their origin in the listing, the text and the files", async () => {
    const world = await openRefreshed(CODEWORD);
    const metier = await world.metier();
    const { instructions, tools } = metier.skillTools();
    expect(instructions).toContain("<name>docs:codeword</name>");
    expect(instructions).toContain("<origin>MCP server docs</origin>");
    const call = async (name: string, input: Record<string, string>): Promise<string> =>
      (await tools.find((tool) => tool.name === name)?.execute(input))?.text ?? "";
    expect(await call("read_skill_file", { skill: "docs:codeword", path: "references/notes.md" })).toMatch(
      /^\[From the MCP server docs.*\]\nNotes\.\n$/,
    );
    const used = await call("use_skill", { skill: "docs:codeword" });
    expect(used).toContain("quokka-codeword");
    expect(used).toContain("From the MCP server docs");
    expect(used).toContain("<file>references/notes.md</file>");
  });

  test("are found by what they say of themselves, and scanned when they are asked for by name", async () => {
    const world = await openRefreshed(CODEWORD);
    const metier = await world.metier();
    expect(await metier.find("codeword")).toMatchObject([{ name: "docs:codeword" }]);
    expect((await metier.scan()).skills).toEqual([]);
    expect(world.asked()).toEqual([]);
    expect((await metier.scan("docs:codeword")).skills).toMatchObject([{ name: "docs:codeword" }]);
    expect(world.asked()).toHaveLength(3);
  });

  test("never take the name of another skill, and one that does not exist is not replaced", async () => {
    const world = await openRefreshed(CODEWORD);
    expect((await world.cli("read", "codeword")).stderr).toContain("Did you mean `docs:codeword`?");
    world.write({ "home/.metier/skills/codeword/SKILL.md": skill("codeword", "", "Mine.") });
    expect((await world.cli("read", "codeword")).stdout).toBe("Mine.\n");
    expect((await world.cli("read", "docs:codeword")).stdout).toContain("quokka-codeword");
    const { json } = await world.cli("list", "--json");
    expect(json.diagnostics).toContainEqual(expect.objectContaining({ code: "remote.name-taken" }));
  });

  test("that share a name are told apart, and none of them is preferred", async () => {
    const [one, two] = ["billing", "support"].map((team) => ({
      ...shelved("refunds"),
      uri: `skill://${team}/refunds/SKILL.md`,
    }));
    const world = await openRefreshed(one ?? never(), two ?? never());
    const { json } = await world.cli("list", "--scope", "remote", "--json");
    const names: readonly string[] = json.skills.map(({ name }: { readonly name: string }) => name);
    expect(names).toHaveLength(2);
    for (const name of names) expect(name).toMatch(/^docs:refunds-[0-9a-f]{8}$/);
    for (const name of names) expect((await world.cli("read", name)).stdout).toContain("quokka-refunds");
  });

  test("of a skill that the list lacks are found by its URI, and stay known", async () => {
    const world = await createListeningWorld({ skills: [{ ...CODEWORD, isUnlisted: true }] });
    await world.cli("remote", "refresh");
    expect((await world.cli("read", "docs:codeword")).code).toBe(1);
    const added = await world.cli("remote", "add", "docs", CODEWORD.uri);
    expect(added.stdout).toContain("docs:codeword");
    await world.cli("remote", "refresh");
    expect((await world.cli("read", "docs:codeword")).stdout).toContain("quokka-codeword");
    const missing = await world.cli("remote", "add", "docs", "skill://nothing/SKILL.md");
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("remote.not-found")]);
  });

  test("come over HTTP too, with a token that is in no message", async () => {
    const bearer = "sesame-open-now-please";
    const world = await createListeningWorld({ skills: [CODEWORD] }, bearer);
    expect((await world.cli("remote", "refresh")).stdout).toContain("docs: 1 skill");
    expect((await world.cli("read", "docs:codeword")).stdout).toContain("quokka-codeword");
    const config = await world.cli("config", "--explain");
    expect(config.stdout).toContain("mcp.servers.docs.bearer");
    expect(config.stdout).not.toContain(bearer);
  });

  test("come from a server of the protocol's older form, which does not say how long its word holds", async () => {
    const world = createShelvedWorld({ skills: [{ ...CODEWORD, isBinary: true }], isOld: true });
    await world.cli("remote", "refresh");
    expect((await world.cli("read", "docs:codeword")).stdout).toContain("quokka-codeword");
    expect((await world.cli("remote", "--json")).json.servers[0].isCurrent).toBe(true);
  });

  test("are asked about again when the server's word has run out", async () => {
    const world = await createListeningWorld({ skills: [CODEWORD], ttlMs: 0 });
    await world.cli("remote", "refresh");
    await world.cli("read", "docs:codeword");
    world.asked();
    const changed = { ...CODEWORD.files, "references/notes.md": "Other notes.\n" };
    world.shelve({ skills: [{ ...CODEWORD, files: changed }], ttlMs: 0 });
    const read = await world.cli("read", "docs:codeword", "references/notes.md");
    expect(read.stdout).toBe("Other notes.\n");
    expect(world.asked()[0]).toBe(`skills/get ${CODEWORD.uri}`);
    world.shelve({ skills: [], fails: "skills/get", ttlMs: 0 });
    const stale = await world.cli("read", "docs:codeword");
    expect(stale.stdout).toContain("quokka-codeword");
    expect(stale.stderr).toContain("remote.stale");
    world.shelve({ skills: [], ttlMs: 0 });
    expect((await world.cli("read", "docs:codeword")).code).toBe(1);
  });

  test("that were changed on disk are fetched again instead of used", async () => {
    const world = await openRefreshed(CODEWORD);
    const metier = await world.metier();
    const { location } = metier.require("docs:codeword");
    await metier.getInstructions("docs:codeword");
    writeFileSync(join(location, "..", "extra.md"), "Not of the server.");
    expect(() => metier.readResource("docs:codeword", "extra.md")).toThrow("declares");
    world.asked();
    expect((await metier.getInstructions("docs:codeword")).text).toContain("quokka-codeword");
    expect(world.asked()).toHaveLength(3);
    expect(existsSync(join(location, "..", "extra.md"))).toBe(false);
  });

  test("are not mounted as if they were of this machine", async () => {
    const world = await openRefreshed(CODEWORD);
    const { mountSkills } = await import("@metier/skills");
    const metier = await world.metier();
    const mount = await mountSkills(metier.list(), { workspace: world.project, target: "skills" });
    expect(mount.skills).toEqual([]);
    expect(mount.diagnostics).toMatchObject([{ code: "remote.not-mounted" }]);
  });

  test("go with their server: forgotten on demand, and when the config does not name it any more", async () => {
    const world = await openRefreshed(CODEWORD);
    await world.cli("read", "docs:codeword");
    await world.cli("remote", "approve", "docs:codeword");
    const servers = join(world.home, ".metier", "cache", "mcp");
    expect((await world.cli("remote", "forget", "docs")).stdout).toContain(
      "no longer approved: docs:codeword",
    );
    expect(readdirSync(servers)).toEqual([]);
    await world.cli("remote", "refresh");
    expect((await world.cli("list", "--scope", "remote", "--json")).json.skills[0].trust).toBe("untrusted");
    world.write({ "home/.metier/config.toml": "" });
    await world.cli("remote", "refresh");
    expect(readdirSync(servers)).toEqual([]);
  });
});

describe("the config of MCP servers", () => {
  test("is the user's alone: a project adds none, granted or not, and may switch one off", async () => {
    const world = await openRefreshed(CODEWORD);
    world.write({ "project/.metier/config.toml": '[mcp.servers.evil]\ncommand = ["evil"]\n' });
    await world.cli("trust");
    expect((await world.cli("remote", "--json")).json.servers).toMatchObject([{ label: "docs" }]);
    expect((await world.cli("list", "--json")).json.diagnostics).toContainEqual(
      expect.objectContaining({ code: "config.user-only" }),
    );
    world.write({ "project/.metier/config.toml": "[mcp.servers.docs]\nenabled = false\n" });
    expect((await world.cli("list", "--scope", "remote", "--json")).json.skills).toEqual([]);
  });

  test("names a wrong table with the reason, and the others work", async () => {
    const world = createShelvedWorld(
      { skills: [CODEWORD] },
      '[mcp.servers.user]\nurl = "https://example.com"\n',
    );
    for (const words of [["refresh"], []]) {
      expect((await world.cli("remote", ...words)).stderr).toContain("the name of a scope");
    }
    const { json } = await world.cli("list", "--json");
    expect(json.diagnostics).toContainEqual(
      expect.objectContaining({
        code: "remote.config",
        message: expect.stringContaining("the name of a scope"),
      }),
    );
    expect((await world.cli("remote")).stderr).toContain("The MCP server `user` is not used");
    expect((await world.cli("remote", "--json")).json.diagnostics).toMatchObject([{ code: "remote.config" }]);
    expect((await world.cli("read", "docs:codeword")).code).toBe(0);
    const unknown = await world.cli("remote", "refresh", "nobody");
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("Known servers: `docs`.")]);
  });
});

describe("an MCP server that cannot be asked", () => {
  test("is told with its address and what happened, and of earlier fetches only where there were any", async () => {
    const world = await openRefreshed(CODEWORD, shelved("other"));
    const nobody = "http://127.0.0.1:39/mcp"; // No ordinary program listens on a port of the system.
    world.write({ "home/.metier/config.toml": `[mcp.servers.docs]\nurl = "${nobody}?key=hidden"\n` });
    const ask = async (): Promise<string> => (await world.cli("remote", "refresh")).stderr;
    const first = await ask();
    expect(first).toContain(
      `The MCP server \`docs\` (\`${nobody}\`) cannot be reached: nothing is listening there (ECONNREFUSED).`,
    );
    expect(first).toContain("that `url` in `[mcp.servers.docs]` is correct, then try again.");
    mkdirSync(join(world.home, ".metier", "cache", "mcp", "docs", "skills", "kept"), { recursive: true });
    expect(await ask()).toContain("then try again; until then, you can use what was fetched before.");
    const run = await world.cli("run", "docs:other", "Go.");
    expect(run.code).toBe(3);
    expect(run.stderr.replaceAll(/\s+/g, " ")).toMatch(/\(ECONNREFUSED\)\. (?:→ )?Check that it runs/);
  });

  test("is told with how its program ended", async () => {
    const world = createShelvedWorld({ skills: [] });
    const command = JSON.stringify([process.execPath, "-e", "console.error('no key'); process.exit(3)"]);
    world.write({ "home/.metier/config.toml": `[mcp.servers.docs]\ncommand = ${command}\n` });
    const { json } = await world.cli("remote", "refresh", "--json");
    expect(json.servers[0].diagnostic).toMatchObject({
      code: "remote.unreachable",
      message: `The MCP server \`docs\` (\`${process.execPath}\`) exited with code 3. Its standard error ends with:\nno key`,
      hint: "Check that it runs and that `command` in `[mcp.servers.docs]` is correct, then try again.",
    });
  });
});

function never(): never {
  throw new Error("There is none.");
}
