/** How a client or a shell is told to start Metier again, and the man page. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { manPage } from "@metier/cli";
import { expect, test } from "vitest";
import { COMPILED_CODE } from "../../../test/support/compiled-code.ts";
import { ROOT } from "../../../test/support/repository.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import type { CliIo } from "../src/context.ts";
import { ownCommand } from "../src/own-command.ts";

const MAIN = join(ROOT, "packages/cli/src/main.ts");

function own(cwd: string, file: string, ...path: readonly string[]): readonly string[] {
  const io = { cwd, environment: { PATH: path.join(delimiter) }, program: ["/usr/bin/node", file] };
  return ownCommand(io as unknown as CliIo);
}

function folderWithMetier(...parts: readonly string[]): string {
  const folder = join(...parts);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "metier"), "#!/bin/sh\n");
  chmodSync(join(folder, "metier"), 0o755);
  return folder;
}

test("[U16] the command is `metier` only where everyone finds it", () => {
  const root = temporaryFolder();
  const project = join(root, "project");
  const file = join(root, "metier.js");
  const everywhere = folderWithMetier(root, "bin");
  expect(own(project, file, everywhere)).toEqual(["metier"]);
  expect(own(project, file)).toEqual(["/usr/bin/node", file]);
  // npm and npx put these on the PATH of what they start.
  expect(own(project, file, folderWithMetier(root, "other", "node_modules", ".bin"))[0]).toBe(
    "/usr/bin/node",
  );
  // A project can't bring the command that a client will start.
  expect(own(project, file, folderWithMetier(project, "tools"))[0]).toBe("/usr/bin/node");
  expect(own(project, join(root, "_npx", "1f", "node_modules", "metier", "bin", "metier.js"))).toEqual([
    "npx",
    "-y",
    "metier",
  ]);
});

test("[U16] what `mcp --print-config` prints can be started", () => {
  const env = { ...COMPILED_CODE, PATH: "/usr/bin:/bin", HOME: temporaryFolder() };
  const cwd = temporaryFolder();
  const run = (command: string, args: readonly string[]): string =>
    spawnSync(command, args, { cwd, env, encoding: "utf8" }).stdout;
  const printed = run(process.execPath, [MAIN, "mcp", "--print-config", "claude"]);
  const { command, args } = JSON.parse(printed).mcpServers.metier;
  if (command === "metier") return; // This machine has one installed.
  expect(existsSync(command)).toBe(true);
  expect(args.at(-1)).toBe("mcp");
  expect(run(command, [...args.slice(0, -1), "--version"])).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test("[U14] the man page is one that `man` understands", (context) => {
  const page = manPage();
  for (const part of ["metier completion", "METIER CONFIG", "\\-\\-timeout <seconds>", "EXIT STATUS"])
    expect(page).toContain(part);
  expect(
    page.split("\n").filter((line) => /^['.](?!\\"|TH|SH|SS|TP|PP|B |B$|nf|fi|RS|RE)/.test(line)),
  ).toEqual([]);
  const { status, stderr, error } = spawnSync("groff", ["-man", "-ww", "-Tutf8", "-Z"], {
    input: page,
    encoding: "utf8",
  });
  if (error) context.skip("groff is not installed");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
