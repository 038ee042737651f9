/** The commands a reader copies work: `npx metier …` in README's `sh` blocks, and in `sh run` blocks anywhere. */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { type CodeBlock, codeBlocks, readDocuments } from "../support/documents.ts";
import { ROOT } from "../support/repository.ts";
import { temporaryFolder, writeTree } from "../support/temporary.ts";

const blocks = readDocuments()
  .flatMap(codeBlocks)
  .filter(({ document, info }) => info === "sh run" || (info === "sh" && document === "README.md"));

/** Lines joined where they end in a backslash; only those that call our command. */
function commands(block: CodeBlock): readonly string[] {
  return block.code
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.startsWith("npx metier") && !STAYS.test(line));
}

/** These go on until somebody ends them; tests of their own start them (`serve-process.ts`, `packages/cli/test/inspect.test.ts`). */
const STAYS = /^npx metier (?:serve|inspect)\b/;
/** A command that waits for something is a fault of the document, not of the machine. */
const PATIENCE_MS = 90_000;

/** A model that answers at once, so that commands which need one can be shown. */
const SCRIPT = '[{ "answer": { "text": "Three points." } }]';

/** A folder with what a clone has, a home with a model and an `npx` that runs this repository's command. */
function makeWorkplace(): { readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  const folder = temporaryFolder();
  const [cwd, home, bin] = [join(folder, "clone"), join(folder, "home"), join(folder, "bin")];
  for (const made of [cwd, home, bin]) mkdirSync(made);
  for (const copied of ["packages/metier/skills", "examples", "packages/metier/recordings"]) {
    cpSync(join(ROOT, copied), join(cwd, copied), { recursive: true });
  }
  const script = join(folder, "script.json");
  const config = `[models.default]\nprovider = "scripted"\nmodel = "${script}"\n`;
  writeTree(folder, { "script.json": SCRIPT, "home/.metier/config.toml": config });
  const npx = join(bin, "npx");
  writeFileSync(
    npx,
    `#!/bin/sh\nshift\nexec '${process.execPath}' '${ROOT}/packages/metier/bin/metier.js' "$@"\n`,
  );
  chmodSync(npx, 0o755);
  return { cwd, env: { ...process.env, HOME: home, PATH: [bin, process.env.PATH].join(delimiter) } };
}

test("README shows commands", () => {
  expect(blocks.filter((block) => block.document === "README.md").flatMap(commands)).not.toEqual([]);
});

test.each(blocks.filter((block) => commands(block).length > 0))(
  "the commands at $document:$line succeed",
  (block) => {
    const { cwd, env } = makeWorkplace();
    for (const command of commands(block)) {
      const { status, stderr } = spawnSync("sh", ["-c", command], {
        cwd,
        env,
        encoding: "utf8",
        input: "",
        timeout: PATIENCE_MS,
      });
      expect({ command, status, stderr: status === 0 ? "" : stderr }).toEqual({
        command,
        status: 0,
        stderr: "",
      });
    }
  },
);
