/** Skills that somebody made up to break whoever looks at them: every page of every one of them is answered. */
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import { openService } from "./support/open-service.ts";

const KEYS = [
  "name",
  "description",
  "tags",
  "input-schema",
  "metadata",
  "hooks",
  "arguments",
  "allowed-tools",
  "requires",
];
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom(
    "x",
    "<script>alert(1)</script>",
    "\u202e",
    "[a, {b: c}]",
    "{a: [1]}",
    "|\n  more\n  lines",
    "*a",
    "!!js/x",
    "'",
  ),
);
const line = fc.tuple(fc.oneof(fc.constantFrom(...KEYS), fc.string({ maxLength: 12 })), text);
const skill = fc.record({
  lines: fc.array(line, { maxLength: 8 }),
  body: fc.string({ unit: "binary", maxLength: 300 }),
  isSound: fc.boolean(),
});

test("whatever a skill file holds, the catalog, its page, its file, the search and the listing are answered", async () => {
  const made = fc.sample(skill, { numRuns: 60, seed: 20_261_117 });
  const folder = temporaryFolder();
  const files = made.map(({ lines, body, isSound }, index) => {
    const head = isSound ? `name: made-${index}\ndescription: Made up.\n` : "";
    const fields = lines.map(([key, value]) => `${key}: ${value}`).join("\n");
    return [`made-${index}/SKILL.md`, `---\n${head}${fields}\n---\n${body}\n`] as const;
  });
  writeTree(join(folder, "home", ".metier", "skills"), Object.fromEntries(files));
  const service = await openService({ folder });
  const read = async (path: string) => {
    const reply = await service.call("GET", path);
    expect([path, reply.status]).toEqual([path, 200]);
    expect(reply.text).not.toContain(folder);
    return reply.body;
  };
  const { data = [] } = await read("/v1/catalog");
  expect(data.length).toBeGreaterThan(30);
  expect(new Set(data.map(({ address }) => address)).size).toBe(data.length);
  for (const { address, description } of data) {
    const place = `/v1/catalog/skills/${encodeURIComponent(String(address).toWellFormed())}`;
    await read(place);
    await read(`${place}/files/SKILL.md`);
    await read(`/v1/catalog/find?q=${encodeURIComponent(String(description).toWellFormed())}`);
  }
  await read("/v1/catalog/listing?budget=200");
  await read("/v1/routing");
  expect(service.log.filter((entry) => entry.includes('"level":"error"'))).toEqual([]);
});
