import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { check, fields, findings, manifestOf } from "./parsed-skill.ts";

verifies([16, "case 20"], "metadata that is not a map is an error, and the skill loads without it", () => {
  for (const metadata of ["text", ["a"], 3]) {
    const checked = check(fields({ metadata }));
    expect(findings(checked)).toEqual(["error field.wrong-type"]);
    expect(checked.manifest?.metadata).toEqual({});
  }
});

verifies([16, "case 20"], "numbers and booleans in metadata become text, with one warning", () => {
  const checked = check(fields({ metadata: { version: 1.5, beta: true, author: "Ann" } }));
  expect(checked.manifest).toMatchObject({
    version: "1.5",
    metadata: { version: "1.5", beta: "true", author: "Ann" },
  });
  expect(findings(checked)).toEqual(["warning metadata.scalar"]);
  expect(checked.diagnostics[0]?.message).toContain("`version` and `beta`");
});

verifies([16, "case 20"], "nested metadata is kept as it is, and refused by `strict`", () => {
  const metadata = { openclaw: { emoji: "x" }, list: ["a"] };
  const checked = check(fields({ metadata }));
  expect(checked.manifest?.metadata).toEqual(metadata);
  expect(findings(checked)).toEqual(["warning metadata.nested"]);
  expect(findings(check(fields({ metadata }), "strict"))).toEqual(["warning metadata.nested"]);
});

verifies(17, "author, version and tags in metadata go before those at the top level", () => {
  const manifest = manifestOf(
    fields({
      version: "0",
      author: "Bob",
      tags: ["b"],
      metadata: { version: "1", author: "Ann", tags: "a, c" },
    }),
  );
  expect(manifest).toMatchObject({ version: "1", authors: ["Ann"], tags: ["a", "c"] });
});

verifies([17, 26], "author, version and tags at the top level count when metadata has none", () => {
  const checked = check(fields({ version: "2.0", author: "Bob", tags: "a b" }));
  expect(checked.manifest).toMatchObject({ version: "2.0", authors: ["Bob"], tags: ["a", "b"] });
  const misplaced = checked.diagnostics.filter((each) => each.code === "field.misplaced");
  expect(misplaced).toMatchObject([
    { severity: "warning", hint: expect.stringContaining("`metadata.version`") },
    { severity: "warning", hint: expect.stringContaining("`metadata.author`") },
    { severity: "warning", hint: expect.stringContaining("`metadata.tags`") },
  ]);
});

verifies(17, "required commands are read from metadata as a line, a list or a map", () => {
  for (const requires of ["gh  docker", ["gh", "docker"], { bins: ["gh", "docker"] }]) {
    expect(manifestOf(fields({ metadata: { requires } })).requires.bins).toEqual(["gh", "docker"]);
  }
});

test("requirements of other dialects are read from their namespace", () => {
  for (const namespace of ["openclaw", "clawdbot", "moltbot"]) {
    const requires = { bins: ["node"], anyBins: ["npm", "pnpm"], env: ["TOKEN"] };
    const manifest = manifestOf(fields({ metadata: { [namespace]: { requires, os: ["macos", "linux"] } } }));
    expect(manifest.requires).toEqual({ ...requires, os: ["darwin", "linux"] });
  }
});

test("requirements from several places are joined without repetition", () => {
  const manifest = manifestOf(
    fields({
      requires: ["git", "gh"],
      metadata: { requires: "gh jq", openclaw: { requires: { bins: ["jq"] } } },
    }),
  );
  expect(manifest.requires.bins).toEqual(["git", "gh", "jq"]);
});

test("variables that some dialects write as maps are read by name", () => {
  const env = [{ name: "RPC_URL", required: true }, { name: "EXTRA", required: false }, "PLAIN"];
  expect(manifestOf(fields({ requires: { env } })).requires.env).toEqual(["RPC_URL", "PLAIN"]);
});
