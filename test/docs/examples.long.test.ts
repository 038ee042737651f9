/** What `examples` and the docs show is true: programs run, config files load, skills are valid, digests agree. */
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { loadConfig } from "@metier/skills/config";
import { identifyContent } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import { codeBlocks, filesShown, readDocuments } from "../support/documents.ts";
import { linkPackages } from "../support/link-packages.ts";
import { filesUnder, ROOT, readRepositoryFile } from "../support/repository.ts";
import { temporaryFolder, writeTree } from "../support/temporary.ts";
import { createWorld } from "../support/world.ts";

const blocks = readDocuments().flatMap(codeBlocks);

/** The code of the blocks that begin with these words; docs that lost their example must not pass. */
function blocksOf(info: string): readonly string[] {
  const found = blocks.filter((block) => block.info === info).map(({ code }) => code);
  expect(found, info).not.toEqual([]);
  return found;
}

/** The skills of the docs that a piece of config sets something for. */
function skillsNamedIn(config: string): Readonly<Record<string, string>> {
  const named = readDocuments()
    .flatMap(filesShown)
    .filter(({ path }) => config.includes(`[skills.${path.replace(/\/SKILL\.md$/, "")}]`));
  return Object.fromEntries(named.map(({ path, code }) => [`home/.metier/skills/${path}`, code]));
}

/** A folder as a user has it: packages where npm puts them, some skills, the desk, a home and a place for temporary files. */
function makeUserFolder(program: string): string {
  const folder = temporaryFolder();
  for (const name of ["home", "temporary"]) mkdirSync(join(folder, name));
  // A program may start `metier` without importing it.
  linkPackages(`${program} from "metier"`, folder);
  writeTree(folder, { "package.json": '{ "type": "module" }\n', "program.ts": program });
  for (const skills of ["packages/metier/skills", "examples/skills"])
    cpSync(join(ROOT, skills), join(folder, "skills"), { recursive: true });
  cpSync(join(ROOT, "examples/desk"), join(folder, "desk"), { recursive: true });
  for (const path of filesUnder(["examples/desk"], [".ts"])) linkPackages(readRepositoryFile(path), folder);
  return folder;
}

function runProgram(cwd: string): { status: number | null; stdout: string; stderr: string } {
  const env = { ...process.env, HOME: join(cwd, "home"), TMPDIR: join(cwd, "temporary") };
  const options = { cwd, env, encoding: "utf8", input: "", timeout: 30_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["program.ts"], options);
  return { status, stdout, stderr };
}

describe("examples", () => {
  const programs = filesUnder(["examples"], [".ts"]).filter((path) => path.split("/").length === 2);

  test.each(programs)("%s succeeds, ends by itself and leaves nothing behind", (path) => {
    const folder = makeUserFolder(readRepositoryFile(path));
    expect(runProgram(folder)).toMatchObject({ status: 0, stderr: "" });
    expect(readdirSync(join(folder, "temporary"))).toEqual([]);
  });
});

/** What the library promises to those who embed it, and the program that shows it. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  "a robust host": ["11-robust-host"],
  "typed tools that know who asks": ["13-typed-tools"],
  "a view for one user or tenant": ["15-one-view-per-user"],
  streams: ["16-streams"],
  "conversations that survive a process": ["17-conversations"],
  "runs that survive a process": ["23-durable-runs"],
  "where runs are kept": ["12-kept-runs"],
  "skills from anywhere": ["18-skills-from-anywhere"],
  "structured results": ["14-structured-results"],
  "adapters that narrow alike": [
    "07-ai-sdk",
    "08-claude",
    "09-openai",
    "10-plain-messages",
    "19-langchain",
    "20-mastra",
    "21-narrowing",
    "22-chat-completions",
  ],
  "survives deployment": ["25-bundled"],
  "clients of other APIs": [
    "26-anthropic-client",
    "27-openai-client",
    "28-mcp-client",
    "29-ai-sdk-client",
    "30-ag-ui-client",
    "31-a2a-client",
  ],
};

describe("the library", () => {
  test.each(Object.entries(SHOWN))("%s: shown by a program of less than 60 lines", (_what, names) => {
    const lengths = names.map(
      (name) => readRepositoryFile(`examples/${name}.ts`).trimEnd().split("\n").length,
    );
    expect(Math.max(...lengths)).toBeLessThan(60);
  });
});

describe("the docs", () => {
  test("the whole config file they show loads without a diagnostic", async () => {
    for (const config of blocksOf("toml config")) {
      const world = createWorld();
      mkdirSync(join(world.home, "team-skills"));
      world.write({ "home/.metier/config.toml": config });
      const metier = await world.metier();
      expect(metier.diagnostics()).toEqual([]);
      expect(metier.config.config.skills.paths).toEqual([join(world.home, "team-skills")]);
      expect(metier.require("triage-issue").status).toBe("enabled");
    }
  });

  test("the other pieces of a user's config they show load without a diagnostic", async () => {
    for (const config of blocksOf("toml user")) {
      const world = createWorld();
      world.write({ "home/.metier/config.toml": config, ...skillsNamedIn(config) });
      const diagnostics = (await world.metier({ bundled: true })).diagnostics();
      // No server of an example is there to be asked.
      expect(diagnostics.filter(({ code }) => code !== "remote.never-asked")).toEqual([]);
    }
  });

  test("the project file there counts without a grant", async () => {
    for (const config of blocksOf("toml project")) {
      const world = createWorld();
      world.write({ "project/.metier/config.toml": config });
      const { config: loaded } = await world.metier();
      expect(loaded.diagnostics).toEqual([]);
      expect(loaded.projectFile?.granted).toBe(false);
      expect(loaded.config.tools).toMatchObject({ bash: "deny" });
    }
  });

  test("the policy there tightens what a user sets", async () => {
    for (const policy of blocksOf("toml policy")) {
      const cwd = temporaryFolder();
      const home = join(cwd, "home");
      const user = '[skills]\npaths = ["~/mine", "/srv/skills/team"]\n[tools]\nbash = "allow"\n';
      writeTree(cwd, { "policy.toml": policy, "home/.metier/config.toml": user });
      const { config, diagnostics } = await loadConfig({
        cwd,
        places: metierPlaces(home),
        environment: {},
        policyFile: join(cwd, "policy.toml"),
      });
      expect(diagnostics).toMatchObject([{ code: "config.policy-drops-path", path: join(home, "mine") }]);
      expect(config.skills.paths).toEqual(["/srv/skills/team"]);
      expect(config.tools).toEqual({ bash: "ask" });
    }
  });

  test("the skills they show are valid, without a warning", async () => {
    for (const text of blocksOf("md skill")) {
      const world = createWorld();
      const [, name = ""] = /^name: (.+)$/m.exec(text) ?? [];
      world.write({ [`project/${name}/SKILL.md`]: text });
      const { results } = await (await world.metier()).validate(name);
      const severities = results.flatMap(({ diagnostics }) => diagnostics.map(({ severity }) => severity));
      expect(results.map(({ valid }) => valid)).toEqual([true]);
      expect(severities.filter((severity) => severity !== "info")).toEqual([]);
    }
  });

  test("the content identity as they compute it is the one that is granted", () => {
    const [program = ""] = blocksOf("ts run").filter((code) => code.includes("function contentIdentity"));
    const folder = makeUserFolder(program);
    const directory = join(folder, "skills", "summarize-text");
    writeTree(directory, { "scripts/run.sh": "#!/bin/sh\n", "é/.hidden": "", "a-b": "x", "a/b": "y" });
    chmodSync(join(directory, "scripts/run.sh"), 0o755);
    symlinkSync("scripts", join(directory, "link-to-folder"));
    symlinkSync("nowhere", join(directory, "link-to-nothing"));
    const outcome = identifyContent({ form: "directory", location: join(directory, "SKILL.md"), directory });
    expect(runProgram(folder).stdout.trim()).toBe(outcome.ok ? outcome.value.digest : "none");
  });
});
