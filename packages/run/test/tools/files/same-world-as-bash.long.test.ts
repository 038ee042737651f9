/** The file tools and the commands of a run see the same world: each is asked for the same paths, in trees of their own. */
import { existsSync, linkSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { buildWorld, chooseSandbox, type Sandbox, type World } from "@metier/sandbox";
import { expect } from "vitest";
import { describeSandbox, sandboxTest } from "../../../../../test/support/sandbox.ts";
import { temporaryFolder, writeTree } from "../../../../../test/support/temporary.ts";
import { toolContext } from "../../../../../test/support/tool-context.ts";
import { writeFileTool } from "../../../src/tools/files/file-tools.ts";
import { readFileTool } from "../../../src/tools/files/read-file.ts";

const FILES = {
  "project/readme.md": "readme",
  "project/src/a.txt": "source",
  "project/.env": "SECRET=1",
  "project/.env.local": "SECRET=2",
  "project/.envrc": "SECRET=3",
  "project/.env.d/x": "SECRET=4",
  "project/src/.env": "SECRET=5",
  "project/.git/HEAD": "head",
  "project/.git/config": "git config",
  "project/.git/hooks/pre-commit": "hook",
  "project/.metier/skills/s/SKILL.md": "a skill of the project",
  "project/.claude/settings.json": "{}",
  "outside/x.txt": "outside",
  "home/.metier/config.toml": "key = 1",
  "skill/SKILL.md": "the skill",
  "skill/scripts/run.sh": "echo",
  "skill/.env": "SECRET=6",
  "work/kept.txt": "kept",
};

/** From the project, or from the root of the tree with a leading `/`. */
const PATHS: readonly string[] = [
  ...Object.keys(FILES).map((path) => `/${path}`),
  ...[
    "readme.md",
    "./src/../readme.md",
    "src/a.txt",
    ".env",
    "src/.env",
    "../outside/x.txt",
    "../skill/SKILL.md",
  ],
  ...["new.txt", "src/new.txt", "new/folder/new.txt", "/work/new.txt", "/work/.env"],
  ...[
    "/skill/new.txt",
    "/outside/new.txt",
    "/new.txt",
    "/home/new.txt",
    ".git/hooks/post-commit",
    ".git/index",
  ],
  ...[
    ".vscode/settings.json",
    ".mcp.json",
    ".agents/skills/x/SKILL.md",
    ".metier/new.toml",
    "src",
    "hard-link",
  ],
  ...["folder-link/a.txt", "folder-link/.env", "folder-out/x.txt", "folder-out/new.txt", "up/outside/x.txt"],
];

const LINKS: readonly string[] = [
  "link",
  "link-to-secret",
  "link-out",
  "link-absolute",
  "dangling",
  "circle",
].map((name) => `/project/${name}`);

/** What `write_file` refuses although a command may do it: to write through a link, and to make what is then hidden. */
const LEFT_TO_COMMANDS = [...LINKS, "/project/.env.new", "/project/src/.envrc"];

interface Tree {
  readonly root: string;
  readonly world: World;
}

function makeTree(trust: "trusted" | "untrusted", write: boolean): Tree {
  const root = temporaryFolder();
  const project = join(root, "project");
  writeTree(root, FILES);
  mkdirSync(join(root, "outside/empty"));
  linkSync(join(project, ".env.local"), join(project, "hard-link"));
  const links = {
    link: "readme.md",
    "link-to-secret": ".env",
    "link-out": "../outside/x.txt",
    "link-absolute": join(root, "outside/x.txt"),
    dangling: "../outside/dangling.txt",
    circle: "circle",
    "folder-link": "src",
    "folder-out": "../outside",
    up: "..",
  };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(project, name));
  const { world } = buildWorld({
    trust,
    cwd: project,
    workDir: join(root, "work"),
    skillDir: join(root, "skill"),
    write,
    places: metierPlaces(join(root, "home"), {}),
    privateFiles: [join(root, "home/.metier/config.toml")],
  });
  return { root, world };
}

function inTree({ root }: Tree, path: string): string {
  return path.startsWith("/") ? join(root, path) : path;
}

async function runShell(sandbox: Sandbox, { world }: Tree, script: string, path: string): Promise<string> {
  const limits = { timeoutMs: 30_000, maxOutputBytes: 10_000 };
  const argv = ["bash", "-c", script, "bash", path];
  const outcome = await sandbox.run({ argv, world, env: {}, limits });
  if (outcome.ended !== "exited") throw new Error(outcome.reason ?? outcome.ended);
  return outcome.exitCode === 0 ? outcome.stdout : "";
}

/** What there is to read: a mask is an empty file to a command and none to a tool, so nothing either way. */
async function readWithTool(tree: Tree, path: string): Promise<string> {
  const output = await readFileTool().execute(
    { path: inTree(tree, path) },
    toolContext({ world: tree.world }),
  );
  return output.isError ? "" : output.text;
}

/** Whether the file holds its own path now, which was to be written: the sandbox has places of its own that are gone with it. */
function wasWritten(tree: Tree, path: string): boolean {
  const file = resolve(tree.world.cwd, inTree(tree, path));
  return existsSync(file) && statSync(file).isFile() && readFileSync(file, "utf8") === path;
}

async function writeWithTool(tree: Tree, path: string): Promise<boolean> {
  const input = { path: inTree(tree, path), content: path };
  const output = await writeFileTool().execute(input, toolContext({ world: tree.world }));
  expect(wasWritten(tree, path)).toBe(!output.isError);
  return !output.isError;
}

async function writeWithShell(sandbox: Sandbox, tree: Tree, path: string): Promise<boolean> {
  const script = `mkdir -p "$(dirname "$1")"; printf %s '${path}' > "$1"`;
  await runShell(sandbox, tree, script, inTree(tree, path));
  return wasWritten(tree, path);
}

describeSandbox("file tools see what commands see", () => {
  const runs = [
    ["trusted", true],
    ["trusted", false],
    ["untrusted", false],
  ] as const;
  for (const [trust, write] of runs) {
    const kind = `in ${trust === "trusted" ? "a trusted" : "an untrusted"} run ${write ? "with" : "without"} \`--write\``;

    sandboxTest(`when they read ${kind}`, async () => {
      const { sandbox } = await chooseSandbox({ backend: "bubblewrap" });
      if (!sandbox) throw new Error("There is no sandbox.");
      const tree = makeTree(trust, write);
      const byTool: Record<string, string> = {};
      const byShell: Record<string, string> = {};
      for (const path of [...PATHS, ...LINKS]) {
        byTool[path] = await readWithTool(tree, path);
        byShell[path] = await runShell(sandbox, tree, 'cat -- "$1"', inTree(tree, path));
      }
      expect(byTool).toEqual(byShell);
      expect(byTool["/skill/SKILL.md"]).toBe("the skill");
      expect(byTool["/project/readme.md"]).toBe(trust === "trusted" ? "readme" : "");
    });

    sandboxTest(`when they write ${kind}`, async () => {
      const { sandbox } = await chooseSandbox({ backend: "bubblewrap" });
      if (!sandbox) throw new Error("There is no sandbox.");
      const [toolTree, shellTree] = [makeTree(trust, write), makeTree(trust, write)];
      const byTool: Record<string, boolean> = {};
      const byShell: Record<string, boolean> = {};
      for (const path of PATHS) {
        byTool[path] = await writeWithTool(toolTree, path);
        byShell[path] = await writeWithShell(sandbox, shellTree, path);
      }
      expect(byTool).toEqual(byShell);
      expect(byTool["/work/new.txt"]).toBe(true);
      expect(byTool["/project/readme.md"]).toBe(write);
      for (const path of LEFT_TO_COMMANDS) expect(await writeWithTool(toolTree, path)).toBe(false);
    });
  }
});
