/** `[sandbox] programs`: what each entry brings into a sandbox, and what none of them can. */
import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { describe, expect, test } from "vitest";
import { describeSandbox, sandboxTest } from "../../../../test/support/sandbox.ts";
import { openShell } from "../../../../test/support/sandbox-shell.ts";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { createWorld } from "../../../../test/support/world.ts";
import { chooseSandbox } from "../../src/sandbox/choose-sandbox.ts";
import { listInterpreters } from "../../src/sandbox/probe.ts";
import { type FoundPrograms, findPrograms } from "../../src/sandbox/programs.ts";

interface Home {
  readonly home: string;
  /** Makes an executable that prints its own name and first word. */
  program(path: string): string;
  find(...entries: readonly string[]): FoundPrograms;
}

function createHome(): Home {
  const home = temporaryFolder();
  return {
    home,
    program(path) {
      writeTree(home, { [path]: '#!/bin/sh\necho "$(basename "$0") $1"\n' });
      chmodSync(join(home, path), 0o755);
      return join(home, path);
    },
    find: (...entries) => findPrograms(entries, metierPlaces(home), { PATH: join(home, "bin") }),
  };
}

/** Why the only entry brings nothing. */
function reasonOf({ files, folders, diagnostics }: FoundPrograms): string {
  expect({ files, folders }).toEqual({ files: {}, folders: [] });
  expect(diagnostics).toHaveLength(1);
  expect(diagnostics[0]).toMatchObject({ code: "sandbox.program-missing", severity: "warning" });
  return diagnostics[0]?.message ?? "";
}

describe("an entry", () => {
  test("is a name on the PATH, a file, or a folder with `bin`", () => {
    const { home, program, find } = createHome();
    const named = program("bin/named");
    const file = program("tools/file");
    program("opt/installed/bin/inside");
    expect(find("named", file, join(home, "opt/installed"), "~/tools/file")).toEqual({
      files: { named, file },
      folders: [join(home, "opt/installed")],
      diagnostics: [],
    });
  });

  test("that is a link brings what it leads to, under its own name", () => {
    const { home, program, find } = createHome();
    const real = program("apps/tool-1.2/tool");
    program("apps/installed-1.2/bin/x");
    mkdirSync(join(home, "bin"));
    symlinkSync(real, join(home, "bin/tool"));
    symlinkSync(join(home, "apps/installed-1.2"), join(home, "apps/installed"));
    expect(find("tool", join(home, "apps/installed"))).toMatchObject({
      files: { tool: real },
      folders: [join(home, "apps/installed-1.2")],
    });
  });

  test("that commands find anyway brings nothing, and that is no fault", () => {
    const { find } = createHome();
    expect(find("/usr/bin/env", "/bin/sh")).toEqual({ files: {}, folders: [], diagnostics: [] });
  });

  test.each([
    ["a name that nobody has", "nobody-has-this", "no program of that name is on your PATH"],
    ["a name that reads as an option", "-x", "no program of that name is on your PATH"],
    ["a path where nothing is", "/nowhere/at/all", "it does not exist"],
    ["a path that starts somewhere", "tools/file", "a path must be absolute, or start with `~/`"],
    ["the path of another home", "~someone/file", "a path must be absolute, or start with `~/`"],
    ["the whole machine", "/", "it is the whole machine"],
    ["a file of the system", "/etc/hostname", "`/etc` belongs to the system"],
  ])("is not %s", (_, entry, reason) => {
    const found = reasonOf(createHome().find(entry));
    expect(found).toContain(`\`${entry}\` in \`sandbox.programs\``);
    expect(found).toContain(reason);
  });
});

describe("what is not brought, whoever asks", () => {
  test.each([
    ["a home", "~", "more than one program"],
    ["what many programs share", "~/.local", "more than one program"],
    ["a folder around a home", "..", "more than one program"],
    ["a location for secrets", "~/.ssh", "a location for secrets"],
    ["a file in one", "~/.aws/run", "a location for secrets"],
    ["a folder around one", "~/.cargo", "`HOME/.cargo/credentials.toml`, a location for secrets"],
    ["Metier's own folder", "~/.metier", "Metier's own folder"],
    ["a file in it", "~/.metier/skills/a/run", "it is inside Metier's own folder"],
    ["a folder without `bin`", "~/empty", "it has no `bin` folder"],
    ["a file that cannot be executed", "~/notes.txt", "it is not an executable file"],
    ["a shim, which would not work", "~/.pyenv/shims/python3", "name the installation folder"],
    ["another Node than Metier's", "~/bin/node", "Metier already provides it"],
    ["another `metier-sb`", "~/bin/metier-sb", "Metier already provides it"],
  ])("%s", (_, entry, reason) => {
    const { home, program, find } = createHome();
    for (const path of [
      ".aws/run",
      ".metier/skills/a/run",
      ".pyenv/shims/python3",
      "bin/node",
      "bin/metier-sb",
    ]) {
      program(path);
    }
    for (const folder of ["bin", ".local/bin", ".ssh/bin", ".cargo/bin", ".metier/bin", "empty"]) {
      mkdirSync(join(home, folder), { recursive: true });
    }
    writeTree(home, { ".cargo/credentials.toml": "token", "notes.txt": "notes" });
    const written = entry === ".." ? join(home, "..") : entry;
    expect(reasonOf(find(written))).toContain(reason.replace("HOME", home));
  });

  test("a link to any of them", () => {
    const { home, find } = createHome();
    mkdirSync(join(home, ".ssh/bin"), { recursive: true });
    symlinkSync(join(home, ".ssh"), join(home, "innocent"));
    expect(reasonOf(find("~/innocent"))).toContain("a location for secrets");
  });
});

describeSandbox("a sandboxed command", () => {
  test("finds what the entries bring, and can change nothing of it", async () => {
    const { home, program, find } = createHome();
    program("bin/named");
    program("bin/beside");
    program("opt/installed/bin/inside");
    writeTree(home, { "opt/installed/share/data.txt": "data" });
    const installed = join(home, "opt/installed");
    const programs = find("named", installed);
    const shell = await openShell(async () => {
      const { sandbox } = await chooseSandbox({ backend: "bubblewrap", programs });
      if (!sandbox) throw new Error("bubblewrap does not start here.");
      return sandbox;
    });
    const { stdout } = await shell.run(`named 1; inside 2; cat '${installed}/share/data.txt'`);
    expect(stdout).toBe("named 1\ninside 2\ndata");
    for (const command of [
      "beside 3",
      `echo x > '${installed}/new'`,
      "echo x > $(command -v named)",
      `ls '${home}/bin'`,
    ]) {
      expect((await shell.run(command)).exitCode).not.toBe(0);
    }
  });

  test("has interpreters whose origin is known", async () => {
    const { home, program, find } = createHome();
    const uv = program("bin/uv");
    program("opt/deno/bin/deno");
    const programs = find("uv", join(home, "opt/deno"));
    const { sandbox } = await chooseSandbox({ backend: "bubblewrap", programs });
    if (!sandbox) throw new Error("bubblewrap does not start here.");
    const found = await listInterpreters(sandbox, programs);
    expect(found).toMatchObject({ uv, deno: join(home, "opt/deno/bin/deno"), node: process.execPath });
    expect(found.sh).toMatch(/\/sh$/);
    expect(Object.keys(found)).toContain("uvx");
  });
});

sandboxTest("`doctor` lists the interpreters and says what is wrong with an entry", async () => {
  const world = createWorld();
  world.write({
    "home/.metier/config.toml": '[sandbox]\nprograms = ["~/opt/deno", "nobody-has-this"]\n',
    "home/opt/deno/bin/deno": "#!/bin/sh\n",
  });
  chmodSync(join(world.home, "opt/deno/bin/deno"), 0o755);
  const { json } = await world.cli("doctor", "--json");
  expect(json.machine.interpreters).toMatchObject({
    deno: join(world.home, "opt/deno/bin/deno"),
    node: process.execPath,
  });
  expect(json.diagnostics).toMatchObject([{ code: "sandbox.program-missing" }]);
  const { stdout } = await world.cli("doctor");
  expect(stdout).toContain(`node: ${process.execPath}`);
  expect(stdout).toContain("`nobody-has-this` in `sandbox.programs` is not available in the sandbox");
});
