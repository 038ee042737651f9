import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill } from "../../../../test/support/world.ts";
import { checkToolsets } from "../../src/validate/inspect-skill.ts";
import { fields, parsedSkill } from "./parsed-skill.ts";

verifies(
  39,
  "`validate` says which toolsets have no module in the skill's folder, with the line",
  async () => {
    const world = createWorld();
    const entries = '["toolsets/index:Tools", "toolsets/missing:Tools", "gone.ts:default", "no-export"]';
    world.write({
      "project/pdf/SKILL.md": skill("pdf", `toolsets: ${entries}`),
      "project/pdf/toolsets/index.ts": "",
    });
    const { code, json } = await world.cli("validate", join(world.project, "pdf"), "--json");
    expect(code).toBe(1);
    const found = json.results[0].diagnostics.filter((diagnostic: { readonly code: string }) =>
      diagnostic.code.startsWith("toolset."),
    );
    expect(found).toMatchObject([
      {
        code: "toolset.missing",
        severity: "error",
        line: 4,
        message: expect.stringContaining("`toolsets/missing:Tools`"),
      },
      { code: "toolset.missing", line: 4, message: expect.stringContaining("`gone.ts` does not exist") },
      { code: "toolset.malformed", severity: "warning", line: 4 },
    ]);
  },
);

test("a skill that shares its folder with others has no toolsets", () => {
  const folder = temporaryFolder();
  writeTree(folder, { "a.ts": "" });
  const parsed = parsedSkill(fields());
  const place = { directory: folder, file: join(folder, "demo.md") };
  const check = (form: "directory" | "markdown") =>
    checkToolsets(
      { ...parsed, candidate: { ...parsed.candidate, ...place, form } },
      { toolsets: ["a:Tools"] },
      "standard",
    );
  expect(check("directory")).toEqual([]);
  expect(check("markdown")).toMatchObject([
    { code: "toolset.missing", message: expect.stringContaining("only a skill with its own folder") },
  ]);
});
