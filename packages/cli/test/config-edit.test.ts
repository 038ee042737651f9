/** `metier config edit` with editors that are real programs. */
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMPILED_CODE } from "../../../test/support/compiled-code.ts";
import { ROOT } from "../../../test/support/repository.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { createWorld, type World } from "../../../test/support/world.ts";

const GOOD = '[skills]\npaths = ["~/mine"]\n';
const BROKEN = "[skills\n";
const UNKNOWN = "[skills]\nnonsense = 1\n";

/** An editor that writes the first text when it is opened first, then the next. */
function worldWithEditor(
  texts: readonly string[],
  how: (program: string) => string = (it) => `'${it}'`,
): World {
  const program = makeEditor(join(temporaryFolder(), "my tools"), texts);
  return createWorld({ environment: { EDITOR: how(program) } });
}

function makeEditor(folder: string, texts: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  for (const [index, text] of texts.entries()) writeFileSync(join(folder, `${index}`), text);
  const program = join(folder, "edit");
  const script = `#!/bin/sh
for file; do :; done
n=$(cat "${folder}/count" 2>/dev/null || echo 0)
echo $((n + 1)) > "${folder}/count"
printf '%s' "$*" > "${folder}/arguments"
[ -f "${folder}/$n" ] && cat "${folder}/$n" > "$file"
exit 0
`;
  writeFileSync(program, script);
  chmodSync(program, 0o755);
  return program;
}

const config = (world: World): string => join(world.home, ".metier/config.toml");

describe("[U14] config edit", () => {
  test("opens your config, also one that is not there yet, and says that it is saved", async () => {
    const world = worldWithEditor([GOOD], (it) => `'${it}' --wait`);
    const { code, stdout } = await world.cliAnswering([], "config", "edit");
    expect([code, stdout]).toEqual([0, `Saved: ${config(world)}\n`]);
    expect(readFileSync(config(world), "utf8")).toBe(GOOD);
    expect((await world.cliAnswering([], "config", "edit")).stdout).toContain("No changes");
  });

  test("passes the editor's own arguments, and prefers VISUAL", async () => {
    const folder = join(createWorld().root, "visual");
    const world = createWorld({
      environment: { EDITOR: "/nowhere", VISUAL: `${makeEditor(folder, [GOOD])} -w` },
    });
    expect((await world.cliAnswering([], "config", "edit")).code).toBe(0);
    expect(readFileSync(join(folder, "arguments"), "utf8")).toBe(`-w ${config(world)}`);
  });

  test("--project opens the project's", async () => {
    const world = worldWithEditor([GOOD]);
    const file = join(world.project, ".metier/config.toml");
    expect((await world.cliAnswering([], "config", "edit", "--project")).stdout).toContain(`Saved: ${file}`);
    expect(readFileSync(file, "utf8")).toBe(GOOD);
  });

  test("shows problems with their line and reopens until there are none", async () => {
    const world = worldWithEditor([BROKEN, UNKNOWN, GOOD]);
    const { code, stdout } = await world.cliAnswering(["what?", "r", "reopen"], "config", "edit");
    expect(code).toBe(0);
    expect(stdout).toMatch(/config\.toml:\d+/);
    expect(stdout).toContain("nonsense");
    expect(stdout.match(/\[r\]eopen/g)).toHaveLength(3);
    expect(stdout).toContain("Saved: ");
    expect(readFileSync(config(world), "utf8")).toBe(GOOD);
  });

  test("keeps a broken file only when told to, and exits 2", async () => {
    const world = worldWithEditor([BROKEN]);
    const { code, stdout } = await world.cliAnswering(["", "k"], "config", "edit");
    expect([code, stdout.includes("Saved with problems")]).toEqual([2, true]);
    expect(readFileSync(config(world), "utf8")).toBe(BROKEN);
  });

  test("takes the file back as it was", async () => {
    const fresh = worldWithEditor([BROKEN]);
    expect((await fresh.cliAnswering(["u"], "config", "edit")).code).toBe(0);
    expect(existsSync(config(fresh))).toBe(false);
    const world = worldWithEditor([BROKEN]);
    world.write({ "home/.metier/config.toml": GOOD });
    await world.cliAnswering(["undo"], "config", "edit");
    expect(readFileSync(config(world), "utf8")).toBe(GOOD);
  });

  test("needs a terminal", async () => {
    const world = worldWithEditor([GOOD]);
    const { code, stderr } = await world.cli("config", "edit");
    expect([code, stderr]).toEqual([2, expect.stringContaining("needs a terminal")]);
    expect(stderr).toContain("metier config set");
    expect(existsSync(config(world))).toBe(false);
  });

  test("starts no program that the project brings along, nor one that is not there", async () => {
    const inside = createWorld();
    const program = makeEditor(join(inside.project, "bin"), [GOOD]);
    for (const environment of [
      { EDITOR: program },
      { EDITOR: "edit", PATH: join(inside.project, "bin") },
      { EDITOR: "./bin/edit" },
      { EDITOR: "no-such-editor" },
    ]) {
      const world = createWorld({ environment });
      const { code, stderr } = await world.cliAnswering([], "config", "edit", "--cwd", inside.project);
      expect([code, stderr]).toEqual([6, expect.stringContaining("was not found outside this project")]);
    }
    expect(existsSync(join(inside.project, "bin/count"))).toBe(false);
  });

  test("an editor that fails is told", async () => {
    const world = createWorld({ environment: { EDITOR: "false" } });
    const { code, stderr } = await world.cliAnswering([], "config", "edit");
    expect([code, stderr]).toEqual([5, expect.stringContaining("it ended with 1")]);
  });

  test("the editor has the terminal", async () => {
    const world = createWorld();
    const folder = join(world.root, "tools");
    const program = makeEditor(folder, []);
    writeFileSync(program, `#!/bin/sh\n[ -t 0 ] && [ -t 1 ] && read answer && echo "# $answer" > "$1"\n`);
    const command = `'${process.execPath}' '${ROOT}/packages/cli/src/main.ts' config edit`;
    const paths = { PATH: process.env.PATH ?? "", METIER_HOME: world.home };
    const env = { ...COMPILED_CODE, ...paths, EDITOR: program, TERM: "xterm" };
    const child = spawn("script", ["-qfec", command, "/dev/null"], { cwd: world.project, env });
    child.stdin.write("typed into it\n");
    await new Promise((resolve) => child.on("exit", resolve));
    expect(readFileSync(config(world), "utf8")).toBe("# typed into it\n");
  });
});
