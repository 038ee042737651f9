/** Temporary folders and small trees of real files for tests; removed after each test. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

/** A fresh folder by its real path, gone when the test ends. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "metier-test-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes `{ "a/b.md": "text" }` below `root`, making folders as needed. */
export function writeTree(root: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** A skill file with the given frontmatter lines. */
export function skillText(frontmatter: string, body = "Do the thing."): string {
  return `---\n${frontmatter.trim()}\n---\n\n${body}\n`;
}
