/** The commands a reader copies work: `npx metier …` in `sh run` blocks. What is shown with its output: `console.long.test.ts`. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { type CodeBlock, codeBlocks, readDocuments } from "../support/documents.ts";
import { makeWorkplace } from "../support/workplace.ts";

const blocks = readDocuments()
  .flatMap(codeBlocks)
  .filter(({ info }) => info === "sh run");

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

test("there are some", () => {
  expect(blocks.flatMap(commands)).not.toEqual([]);
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
