/** The folders of one attempt, as a real run has them, with something worth taking in each; and what became of them. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { removeFolder } from "@metier/base/files";
import { metierPlaces } from "@metier/base/places";
import { listWorkFiles } from "@metier/run";
import { buildWorld, openForReading, type World } from "@metier/sandbox";
import type { Attempt } from "./attempt.ts";
import type { Surroundings } from "./surroundings.ts";

export interface Stage {
  readonly world: World;
  /** Of this attempt alone: what it says to servers and calls its files. */
  readonly mark: string;
  /** On the command line of everything it starts. */
  readonly lasting: string;
  readonly env: Readonly<Record<string, string>>;
  /** What of the machine is not as it was before. */
  findHarm(): string | undefined;
  /** What Metier's file tools would give a model that asks for a file of the work folder. */
  readByTools(name: string): string | undefined;
  /** Whether what the run left keeps Metier from listing it, or from removing it. */
  cannotList(): string | undefined;
  cannotRemove(): string | undefined;
  close(): void;
}

const VICTIM_ATTEMPTS = 100;
const VICTIM_PAUSE_MS = 100;

export async function openStage(attempt: Attempt, around: Surroundings): Promise<Stage> {
  const { secret } = around;
  const mark = randomUUID();
  const lasting = `${3600 + Math.floor(Math.random() * 1_000_000)}.${Math.floor(Math.random() * 1_000_000)}`;
  const root = join(around.root, "runs", mark.slice(0, 8));
  const home = join(root, "home");
  const project = join(root, "project");
  const metier = join(home, ".metier");
  const workDir = join(metier, "state", "runs", mark, "work");
  const skillDir = join(root, "skills", "own");
  plantFiles(root, secret);
  writeTree(metier, { [`state/runs/${mark}/events.jsonl`]: secret });
  mkdirSync(workDir);
  const projectSocket = join(project, "d.sock");
  await around.listenAt(projectSocket);
  const { world: kind = "trusted" } = attempt;
  const { world } = buildWorld({
    trust: kind === "untrusted" ? "untrusted" : "trusted",
    cwd: kind === "home" ? home : project,
    workDir,
    skillDir,
    write: kind === "writable",
    places: metierPlaces(home),
    privateFiles: [join(project, ".metier", "config.toml")],
  });
  const strays = [join(around.root, "outside", mark), `${around.variables.HOST_SHM}.${mark}`];
  const victim = await startVictim();
  const described = describeVictim(victim);
  const before = describeTree(root, workDir);

  return {
    world,
    mark,
    lasting,
    env: {
      ...around.variables,
      MARK: mark,
      LASTING: lasting,
      LONG: "long ".repeat(10_000),
      HOST_HOME: home,
      PROJECT: project,
      PROJECT_SOCKET: projectSocket,
      OTHER_SKILL: join(root, "skills", "other"),
      METIER: metier,
      OUTSIDE: join(root, "outside"),
      VICTIM: String(victim.pid),
    },
    findHarm() {
      if (around.hasHeard(mark)) return "a server heard of it";
      const left = strays.find((path) => existsSync(path));
      if (left !== undefined) return `\`${left}\` was made`;
      if (describeVictim(victim) !== described) return "it harmed another process";
      return findDifference(before, describeTree(root, workDir));
    },
    readByTools(name) {
      const opened = openForReading(world, join(workDir, name));
      return opened.ok ? `the file tools open \`${name}\`` : undefined;
    },
    cannotList: () => tryTo("listed", () => listWorkFiles(workDir)),
    cannotRemove: () => tryTo("removed", () => removeFolder(dirname(workDir))),
    close() {
      victim.kill("SIGKILL");
      for (const path of [...strays, root]) removeFolder(path);
    },
  };
}

/** While a fork bomb beside it is being ended, the machine may have no process number left for a moment. */
async function startVictim(): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt += 1) {
    const victim = spawn("sleep", ["600"], { stdio: "ignore" });
    try {
      await once(victim, "spawn");
      return victim;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN" || attempt === VICTIM_ATTEMPTS) throw error;
      await pause(VICTIM_PAUSE_MS);
    }
  }
}

function plantFiles(root: string, secret: string): void {
  const skill = (name: string): string => `---\nname: ${name}\ndescription: A skill.\n---\n\n${secret}\n`;
  writeTree(root, {
    "outside/secret.txt": secret,
    "home/notes.txt": secret,
    "home/.profile": "# empty",
    "home/.ssh/id_ed25519": secret,
    "home/.ssh/authorized_keys": "",
    "home/.aws/credentials": secret,
    "home/.metier/config.toml": secret,
    "home/.metier/grants.json": secret,
    "home/.metier/vault/key": secret,
    "home/.metier/data/other/store.json": secret,
    "home/.metier/state/runs/other/work/result.txt": secret,
    "skills/own/SKILL.md": skill("own").replace(secret, "Do the thing."),
    "skills/other/SKILL.md": skill("other"),
    "project/README.md": secret,
    "project/.env": secret,
    "project/.metier/config.toml": secret,
    "project/packages/app/.env.local": secret,
    "project/.git/HEAD": "ref: refs/heads/main\n",
    "project/.git/config": "[core]\n",
    "project/.git/hooks/pre-commit.sample": "#!/bin/sh\n",
  });
}

function writeTree(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

/** Every file below `root` with its mode, time and content, except in the run's own folder. */
function describeTree(root: string, workDir: string): ReadonlyMap<string, string> {
  const described = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      const stats = lstatSync(path);
      if (stats.isDirectory()) {
        described.set(path, `folder ${stats.mode}`);
        if (path !== workDir) visit(path);
      } else if (stats.isSymbolicLink()) described.set(path, `link to ${readlinkSync(path)}`);
      else if (stats.isFile()) {
        described.set(
          path,
          `file ${stats.mode} ${stats.mtimeMs} ${stats.nlink} ${readFileSync(path, "utf8")}`,
        );
      } else described.set(path, "special");
    }
  };
  visit(root);
  return described;
}

function findDifference(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string | undefined {
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    if (before.get(path) !== after.get(path)) return `\`${path}\` has changed`;
  }
  return undefined;
}

/** Whether it lives, stands still, how it is ranked and what it may use. */
function describeVictim({ pid = 0 }: ChildProcess): string {
  try {
    const [, after = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    const fields = after.split(" ");
    const isStopped = fields[0] === "T" || fields[0] === "Z";
    return `${isStopped} ${fields[16]} ${readFileSync(`/proc/${pid}/limits`, "utf8")}`;
  } catch {
    return "gone";
  }
}

function tryTo(what: string, act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return `what it left cannot be ${what}: ${(error as Error).message}`;
  }
}
