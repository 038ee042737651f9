/**
 * Kills processes in the middle of installing, updating and removing, and looks at what they leave: every skill wholly old or
 * wholly new, a lock that parses, a store in which every folder is what it is called, and a rerun that puts the rest right.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, lstatSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Metier } from "@metier/runtime";
import { storeFolder } from "@metier/skills/trust";
import type { Repository } from "./git-repository.ts";
import { createInstallWorld, type InstallWorld } from "./installing.ts";
import type { KillTask } from "./kill-child.ts";
import { digestOf } from "./locks.ts";
import { createRandom } from "./random.ts";
import { skill } from "./world.ts";

export interface KillReport {
  /** How often each was cut off. */
  readonly killed: Readonly<Record<KillTask["operation"], number>>;
  /** What was wrong, in sentences. */
  readonly faults: readonly string[];
}

const OPERATIONS = ["install", "update", "remove"] as const;
const NAMES = ["alpha", "beta", "gamma"] as const;
/** One that gets links, one that gets copies. */
const AGENTS = ["claude-code", "agent-harness"];
const PLACES = [".claude/skills", ".agent/skills"];
const CHILD = fileURLToPath(new URL("./kill-child.ts", import.meta.url));

/** `kills` processes that had not finished; the seed decides when each is killed. */
export async function killOften(kills: number, seed: number): Promise<KillReport> {
  const suite = new KillSuite(seed);
  try {
    return await suite.run(kills);
  } finally {
    suite.close();
  }
}

class KillSuite {
  readonly #world: InstallWorld = createInstallWorld();
  readonly #repository: Repository;
  /** Of the commits of which one is the branch. */
  readonly #commits: readonly string[];
  /** What each skill may be. */
  readonly #digests: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #random: () => number;
  readonly #faults: string[] = [];
  readonly #killed = { install: 0, update: 0, remove: 0 };
  /** How long each took when nobody killed it. */
  readonly #durations = new Map<KillTask["operation"], number>();
  #waiting: Child | undefined;
  #version = 0;

  constructor(seed: number) {
    this.#random = createRandom(seed);
    this.#repository = this.#world.repository(makeSkills(0));
    const digests = NAMES.map((name) => [name, new Set<string>()] as const);
    const collect = (): void => {
      for (const [name, set] of digests) set.add(digestOf(join(this.#repository.folder, "skills", name)));
    };
    collect();
    this.#commits = [this.#repository.git("rev-parse", "HEAD")];
    for (const version of [1, 2]) {
      this.#commits = [...this.#commits, this.#repository.commit(makeSkills(version))];
      collect();
    }
    this.#digests = new Map(digests);
  }

  async run(kills: number): Promise<KillReport> {
    for (const operation of OPERATIONS) await this.#attempt(operation, "finish");
    for (let done = 0, tries = 0; done < kills && this.#faults.length === 0; tries++) {
      const operation = OPERATIONS[done % OPERATIONS.length] ?? "install";
      if (await this.#attempt(operation, "kill")) done += 1;
      else if (tries > kills * 20) this.#faults.push("The processes finish before they can be killed.");
    }
    await this.#checkEnd();
    return { killed: this.#killed, faults: this.#faults };
  }

  close(): void {
    this.#waiting?.end();
  }

  /** Whether it was killed before it had finished. */
  async #attempt(operation: KillTask["operation"], how: "finish" | "kill"): Promise<boolean> {
    await this.#prepare(operation);
    const child = this.#waiting ?? new Child(this.#world);
    this.#waiting = undefined;
    await child.ready();
    const before = this.#read();
    const source = this.#repository.url;
    const startedAt = performance.now();
    const finished = child.carryOut({ operation, source, names: NAMES, agents: AGENTS });
    const delay = this.#random() * (this.#durations.get(operation) ?? 0);
    const answer = how === "finish" ? await finished : await Promise.race([finished, pause(delay)]);
    if (how === "finish") this.#durations.set(operation, performance.now() - startedAt);
    child.kill();
    this.#waiting = new Child(this.#world);
    await child.ended();
    if (answer !== undefined && answer !== "done") this.#faults.push(`${operation} failed: ${answer}`);
    this.#check(operation, before);
    await this.#recover(operation);
    if (answer !== undefined) return false;
    this.#killed[operation] += 1;
    return true;
  }

  /** For an update the source has another version; what is to be removed is there, what is to be installed is not. */
  async #prepare(operation: KillTask["operation"]): Promise<void> {
    const metier = await this.#world.metier();
    const isThere = this.#world.lock().skills.length > 0;
    if (operation === "install" && isThere) await metier.remove(NAMES);
    if (operation !== "install" && !isThere) {
      await metier.install({ source: this.#repository.url, agents: AGENTS, skills: ["*"] });
    }
    this.#version = (this.#version + 1) % this.#commits.length;
    const branch = join(this.#repository.folder, ".git", "refs", "heads", "main");
    writeFileSync(branch, `${this.#commits[this.#version]}\n`);
  }

  /** What the lock says, as one text. */
  #read(): string {
    const { skills } = this.#world.lock();
    return skills.map(({ name, digest }) => `${name} ${digest}`).join("\n");
  }

  #check(operation: KillTask["operation"], before: string): void {
    const after = this.#read();
    const expected = operation === "remove" ? "" : this.#current();
    if (after !== before && after !== expected) {
      this.#faults.push(`After a killed ${operation} the lock is neither old nor new:\n${after}`);
    }
    for (const entry of this.#world.lock().skills) {
      const folder = storeFolder(this.#world.places, entry);
      if (!existsSync(folder))
        this.#faults.push(`${operation}: the lock names \`${folder}\`, which is not there.`);
    }
    this.#checkStore(operation);
    for (const place of PLACES) for (const name of NAMES) this.#checkPlace(operation, place, name);
  }

  #current(): string {
    return NAMES.map((name) => `${name} ${this.#digestAt(name)}`).join("\n");
  }

  #digestAt(name: string): string {
    return [...(this.#digests.get(name) ?? [])][this.#version] ?? "";
  }

  #checkStore(operation: string): void {
    for (const name of this.#world.stored()) {
      const folder = join(this.#world.places.store, name);
      const digest = digestOf(folder).slice("sha256:".length);
      if (!name.endsWith(`@${digest.slice(0, 16)}`)) {
        this.#faults.push(`${operation}: \`${basename(folder)}\` in the store has the content ${digest}.`);
      }
    }
  }

  /** A place is empty, or has one version as a whole. */
  #checkPlace(operation: string, place: string, name: string): void {
    const folder = join(this.#world.home, place, name);
    if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return;
    const isWhole = existsSync(folder) && this.#digests.get(name)?.has(digestOf(folder));
    if (!isWhole) this.#faults.push(`${operation}: \`${folder}\` is no version of the skill.`);
  }

  /** A rerun puts right what was cut off. */
  async #recover(operation: string): Promise<void> {
    const metier = await this.#world.metier();
    await metier.install({});
    const report = await metier.verify();
    if (!report.ok) this.#faults.push(`${operation}: verify disagrees: ${JSON.stringify(report)}`);
  }

  /** Nothing is left of all those that were killed. */
  async #checkEnd(): Promise<void> {
    this.#waiting?.end();
    await this.#waiting?.ended();
    this.#waiting = undefined;
    const metier: Metier = await this.#world.metier();
    for (const agents of [AGENTS, []]) {
      await metier.install({ source: this.#repository.url, skills: ["*"], agents, force: true });
    }
    const { home, places } = this.#world;
    for (const folder of [
      places.base,
      places.quarantine,
      ...PLACES.map((place) => join(home, place, "..")),
    ]) {
      const left = readdirSync(folder).filter((name) => /^\.metier|^\d+-|\.tmp$/.test(name));
      if (left.length > 0) this.#faults.push(`\`${folder}\` still has ${left.join(", ")}.`);
    }
  }
}

/** A process that waits for its task, so that starting is no part of what is killed. */
class Child {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #reader: Interface;
  readonly #ended: Promise<void>;
  readonly #ready: Promise<unknown>;

  constructor({ home, project }: InstallWorld) {
    // A group of its own: git, which it starts, dies with it.
    this.#process = spawn(process.execPath, [CHILD, home, project], {
      detached: true,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#ended = new Promise((resolve, reject) => {
      this.#process.once("close", () => resolve());
      this.#process.once("error", reject); // The machine has no room for another process.
    });
    this.#process.stdin?.on("error", () => undefined); // It may be dead already.
    if (!this.#process.stdout) throw new Error("The process has no output.");
    this.#reader = createInterface({ input: this.#process.stdout });
    this.#lines = this.#reader[Symbol.asyncIterator]();
    this.#ready = Promise.race([this.#lines.next(), this.#ended]);
    this.#ready.catch(() => undefined); // Whoever waits for it is told.
  }

  async ready(): Promise<void> {
    await this.#ready;
  }

  /** `done`, or why not; never, if it is killed before. */
  async carryOut(task: KillTask): Promise<string | undefined> {
    this.#process.stdin?.write(`${JSON.stringify(task)}\n`);
    const line = await Promise.race([this.#lines.next(), this.#ended]);
    return line && !line.done ? line.value : undefined;
  }

  kill(): void {
    const { pid, exitCode } = this.#process;
    if (pid === undefined || exitCode !== null) return;
    process.kill(-pid, "SIGKILL");
  }

  end(): void {
    this.kill();
    this.#reader.close();
  }

  ended(): Promise<void> {
    return this.#ended;
  }
}

function makeSkills(version: number): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of NAMES) {
    files[`skills/${name}/SKILL.md`] = skill(name, "", `Version ${version}.`);
    for (let page = 0; page < 6; page++) {
      files[`skills/${name}/references/${page}.md`] = `${name} ${version} ${page}\n`.repeat(500);
    }
  }
  return files;
}
