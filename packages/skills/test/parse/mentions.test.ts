import { expect, test } from "vitest";
import { findMentions } from "../../src/parse/mentions.ts";

function pathsOf(body: string): readonly string[] {
  return findMentions(body).map(({ path }) => path);
}

test("[U9] finds the skill's own files in backticks, in sentences and behind interpreters", () => {
  const body = [
    "Read `references/guide.md` first, then run scripts/check.py.",
    "Validate with `python3 ./scripts/lint.py --strict input.json`.",
    "```sh",
    "uv run scripts/build.py out.txt && bash scripts/pack.sh",
    "scripts/go.sh",
    "$" + "{CLAUDE_SKILL_DIR}/scripts/start.sh",
    "```",
    "Colors: (see assets/palette.json).",
  ].join("\n");
  expect(pathsOf(body)).toEqual([
    "references/guide.md",
    "scripts/check.py",
    "scripts/lint.py",
    "scripts/build.py",
    "scripts/pack.sh",
    "scripts/go.sh",
    "scripts/start.sh",
    "assets/palette.json",
  ]);
});

test("[U9] passes over placeholders, examples, files to write, other people's folders and links", () => {
  const body = [
    "Split long text into `references/topic.md`.",
    "Create `scripts/deploy.sh` in the project.",
    "A path such as `references/api.md` is fine.",
    "Use `references/<name>.md`, `references/*.md` and `references/your-file.md`.",
    "See https://example.com/scripts/x.js and `src/scripts/build.ts` and `/opt/scripts/run.sh`.",
    "[references/linked.md](references/linked.md)",
    "```yaml",
    "run: scripts/ci.sh",
    "```",
    "```sh",
    "cp report.md references/report.md",
    "├── scripts/tree.py",
    "```",
    "The `scripts/` folder, and `references`.",
  ].join("\n");
  expect(pathsOf(body)).toEqual([]);
});

test("a hostile body costs one pass", () => {
  const body = `${"[".repeat(3000)} scripts/\n`.repeat(300) + "a/".repeat(500_000);
  expect(pathsOf(body)).toEqual([]);
  expect(findMentions("`scripts/run-1.sh`\n`scripts/run-2.sh`", 1)).toEqual([
    { path: "scripts/run-1.sh", line: 1 },
  ]);
});
