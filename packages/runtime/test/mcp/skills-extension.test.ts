/** The Skills extension (SEP-2640) as the official client sees it, which verifies every file against its entry. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { identifyContent } from "@metier/skills/trust";
import { SkillsClient } from "@modelcontextprotocol/client/ext/skills";
import { describe, expect, test } from "vitest";
import { PROTOCOLS, serve } from "../../../../test/support/mcp-clients.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";

const SKILLS = "home/.metier/skills";
const BYTES = Buffer.from([0, 255, 1, 254]);

function atlasWorld(): World {
  const world = createWorld();
  world.write({
    [`${SKILLS}/atlas/SKILL.md`]: skill("atlas", "metadata:\n  author: me", "Body with ä."),
    [`${SKILLS}/atlas/references/Q & A%.md`]: "# Answers\n",
    [`${SKILLS}/atlas/references/deep/er/notes.txt`]: "deep",
    [`${SKILLS}/atlas/nested/other/SKILL.md`]: skill("other"),
    [`${SKILLS}/atlas/empty.txt`]: "",
  });
  writeFileSync(join(world.root, SKILLS, "atlas", "tiles.bin"), BYTES);
  return world;
}

describe.each(PROTOCOLS)("in version %s", (version) => {
  test("an entry lists every file with the digests of the content identity, and every file verifies", async () => {
    const metier = await atlasWorld().metier();
    const skills = new SkillsClient(await (await serve(metier)).connect(version));
    const { skills: entries } = await skills.list();
    expect(entries.map(({ uri }) => uri)).toEqual(["skill://atlas/SKILL.md"]);
    const [entry] = entries;
    if (entry === undefined || entry.resources === "dynamic") throw new Error("There is no such entry.");
    const identity = identifyContent(metier.require("atlas"));
    if (!identity.ok) throw new Error(identity.refusal.message);
    const listed = entry.resources.map(({ digest, size }) => ({ digest, size }));
    const known = identity.value.files.map(({ digest, size }) => ({ digest, size }));
    expect(listed).toHaveLength(6);
    expect(listed).toEqual(expect.arrayContaining(known));
    expect(entry.frontmatter).toEqual({
      name: "atlas",
      description: "The atlas skill.",
      metadata: { author: "me" },
    });
    for (const { uri } of entry.resources) expect((await skills.read(entry, uri)).verified).toBe(true);
    expect(Buffer.from((await skills.read(entry, "tiles.bin")).bytes)).toEqual(BYTES);
    expect((await skills.read(entry, "references/Q & A%.md")).text).toBe("# Answers\n");
    expect((await skills.read(entry)).body).toContain("Body with ä.");
    expect((await skills.get(entry.uri)).skill).toEqual(entry);
  });

  test("folders are read level by level", async () => {
    const client = await (await serve(await atlasWorld().metier())).connect(version);
    const skills = new SkillsClient(client);
    const names = async (uri: string): Promise<readonly string[]> =>
      (await skills.readDirectory(uri)).resources.map(
        ({ name, mimeType }) => name + (mimeType === "inode/directory" ? "/" : ""),
      );
    expect(await names("skill://atlas")).toEqual([
      "SKILL.md",
      "empty.txt",
      "nested/",
      "references/",
      "tiles.bin",
    ]);
    expect(await names("skill://atlas/references/")).toEqual(["Q & A%.md", "deep/"]);
    await expect(names("skill://atlas/SKILL.md")).rejects.toThrow("is not a directory resource");
    await expect(names("skill://atlas/none")).rejects.toThrow("is not a directory resource");
  });

  test("lists come in pages, each cursor of this server's own", async () => {
    const world = createWorld();
    for (let number = 0; number < 120; number++) {
      world.write({ [`${SKILLS}/s${number}/SKILL.md`]: skill(`s${number}`) });
    }
    const client = await (await serve(await world.metier())).connect(version);
    const skills = new SkillsClient(client);
    const uris = (found: readonly { readonly uri: string }[]): number =>
      new Set(found.map(({ uri }) => uri)).size;
    expect(uris((await skills.list()).skills)).toBe(120);
    expect(uris((await client.listResources()).resources)).toBe(120);
    expect((await client.listPrompts()).prompts).toHaveLength(120);
    // The names sort as texts, and the first pages end at one of them.
    const rest = await skills.list({ cursor: Buffer.from("after:s80").toString("base64url") });
    expect(rest.skills.map(({ frontmatter }) => frontmatter.name)[0]).toBe("s81");
    const all = await skills.list({ cursor: Buffer.from("after:a").toString("base64url") });
    expect(all.skills).toHaveLength(100);
    expect(all.nextCursor).toBeDefined();
    await expect(skills.list({ cursor: "made-up" })).rejects.toThrow("Unknown cursor");
  });
});
