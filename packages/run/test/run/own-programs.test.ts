/** A key command is the user's own program: one that the project brings along under its name is never started. */
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { createOwnCommand } from "../../src/run/run-secrets.ts";

const script = (mark: string): string => `#!/bin/sh\ntouch '${mark}'\necho ${mark.split("/").at(-1)}\n`;

test("is found outside of the project, also from a folder below its root", async () => {
  const root = temporaryFolder();
  const mark = (name: string): string => join(root, name);
  writeTree(root, {
    "project/.git/HEAD": "ref: refs/heads/main\n",
    "project/node_modules/.bin/print-key": script(mark("theirs")),
    "project/below/.keep": "",
    "own/print-key": script(mark("mine")),
  });
  for (const file of ["project/node_modules/.bin/print-key", "own/print-key"]) chmodSync(mark(file), 0o755);
  const run = (PATH: string): Promise<{ readonly stdout: string }> =>
    createOwnCommand({
      environment: { PATH },
      base: mark("project/below"),
      places: { home: mark("home") },
    })(["print-key"]);
  const theirs = mark("project/node_modules/.bin");

  await expect(run(`${theirs}:/usr/bin:/bin`)).rejects.toThrow("`print-key` is not on PATH");
  expect(await run(`${theirs}:${mark("own")}:/usr/bin:/bin`)).toEqual({ stdout: "mine\n" });
  expect(existsSync(mark("theirs"))).toBe(false);
});
