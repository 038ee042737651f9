import { chmodSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { identifyFolder } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../../test/support/temporary.ts";
import { compareContent, type SkillFiles } from "../../../src/install/update/compare-content.ts";

function version(
  files: Readonly<Record<string, string | Buffer>>,
  more?: (folder: string) => void,
): SkillFiles {
  const directory = temporaryFolder();
  writeTree(directory, files);
  more?.(directory);
  const outcome = identifyFolder(directory);
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  return { directory, files: outcome.value.files };
}

const lines = (...texts: readonly string[]): string => texts.map((text) => `${text}\n`).join("");
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}`);

describe("compareContent", () => {
  test("shows each run of changes with three lines around it", () => {
    const text = numbered(30);
    const changed = text.with(4, "five").toSpliced(20, 1).with(26, "twenty-eight");
    const { files, diff } = compareContent(
      version({ "a.md": lines(...text) }),
      version({ "a.md": lines(...changed) }),
    );
    expect(files).toEqual([{ path: "a.md", change: "changed", added: 2, removed: 3 }]);
    expect(diff.split("\n").filter((line) => line.startsWith("@@"))).toEqual([
      "@@ -2,7 +2,7 @@",
      "@@ -18,13 +18,12 @@",
    ]);
    expect(diff).toContain(" line 4\n-line 5\n+five\n line 6");
  });

  test("a file that is no text, or too large, is named without its lines", () => {
    const { files, diff } = compareContent(
      version({ "b.bin": Buffer.from([0, 1, 2]), "large.txt": "x".repeat(300_000) }),
      version({ "b.bin": Buffer.from([0, 1, 3]), "large.txt": "y".repeat(300_000) }),
    );
    expect(files).toEqual([
      { path: "b.bin", change: "changed" },
      { path: "large.txt", change: "changed" },
    ]);
    expect(diff).toContain("+++ b.bin\n(not text, or too large to show; 3 bytes)");
  });

  test("a link counts by where it leads, an executable bit by itself", () => {
    const link = (target: string) => (folder: string) => {
      rmSync(join(folder, "link"), { force: true });
      symlinkSync(target, join(folder, "link"));
    };
    const before = version({ "run.sh": "echo\n" }, link("run.sh"));
    const after = version({ "run.sh": "echo\n" }, (folder) => {
      link("other.sh")(folder);
      chmodSync(join(folder, "run.sh"), 0o755);
    });
    const { files, diff } = compareContent(before, after);
    expect(files).toEqual([
      { path: "link", change: "changed", added: 1, removed: 1 },
      { path: "run.sh", change: "mode" },
    ]);
    expect(diff).toContain("--> run.sh\n+-> other.sh");
    expect(diff).toContain("(now executable)");
  });

  test("long lines and long diffs are cut", () => {
    const { diff } = compareContent(
      version({ "a.txt": "" }),
      version({ "a.txt": `${"w".repeat(1_000)}\n`, "b.txt": lines(...numbered(5_000)) }),
    );
    const shown = diff.split("\n");
    expect(shown.length).toBe(601);
    expect(shown.at(-1)).toBe("(the rest is not shown)");
    expect(shown.find((line) => line.startsWith("+w"))).toHaveLength(402);
  });

  test("nothing in common is no text in common", () => {
    expect(compareContent(version({}), version({}))).toEqual({ files: [], diff: "" });
  });
});
