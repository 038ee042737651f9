/** `metier run --durable` and `metier runs resume`: a run goes on in another process than the one that started it. */
import { existsSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { openLocal } from "@metier/durable/sqlite";
import { describe, expect, test } from "vitest";
import { writeNotesBridge } from "../../../test/support/notes-bridge.ts";
import { describeSandbox } from "../../../test/support/sandbox.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { createWorld, skill, type World } from "../../../test/support/world.ts";
import { durableWorld, WRITES } from "./durable-world.ts";

const START = ["run", "writer", "Go.", "--durable", "--write"] as const;

function serviceFolder({ home }: World): string {
  return join(home, ".metier", "state", "service");
}

function noteOf({ project }: World): string {
  return readFileSync(join(project, "note.txt"), "utf8");
}

/** Starts a run that waits for an answer; gives its id. */
async function startWaiting(world: World): Promise<string> {
  const { code, json } = await world.cli(...START, "--json");
  expect([code, json.status]).toEqual([3, "waiting"]);
  return json.runId;
}

describe("metier run --durable", () => {
  test("prints what any other run prints, and is kept", async () => {
    const world = await durableWorld([]);
    const { code, stdout, stderr } = await world.cli("run", "writer", "Go.", "--durable");
    expect([code, stdout]).toEqual([0, "All done.\n"]);
    expect(stderr).toContain("step 1: stop");
    const [kept] = (await world.cli("runs", "--json")).json.runs;
    expect(kept).toMatchObject({ skill: "writer", state: "completed" });
    const again = await world.cli("runs", "resume", kept.runId);
    expect([again.code, again.stdout]).toEqual([0, "All done.\n"]);
    expect(again.stderr).toContain("has ended: completed");
    expect(world.asked()).toBe(1);
  });

  test("waits for an answer where nobody can be asked, and says how to go on", async () => {
    const world = await durableWorld([WRITES]);
    const { code, stdout, stderr } = await world.cli(...START);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain("Waiting for an answer: write_file: note.txt");
    expect(stderr).toMatch(/Continue it with: metier runs resume \S+/);
    expect(existsSync(join(world.project, "note.txt"))).toBe(false);
  });

  test("asks in a terminal, and goes on with the answer", async () => {
    const world = await durableWorld([WRITES, { tool: "ask_user", input: { question: "Which color?" } }]);
    const { code, stdout, stderr } = await world.cliAnswering(["y", "blue"], ...START);
    expect(code).toBe(0);
    expect(stdout).toContain("All done.");
    expect(stderr).toContain("Which color?");
    expect(noteOf(world)).toBe("hello");
    expect(world.asked()).toBe(3);
  });

  test("a no is a no; --approve asks nothing", async () => {
    const declined = await durableWorld([WRITES]);
    const { stderr } = await declined.cliAnswering(["n"], ...START);
    expect(stderr).toMatch(/not allowed: write_file: \S+ declined/);
    const approved = await durableWorld([WRITES]);
    expect((await approved.cli(...START, "--approve")).stdout).toBe("All done.\n");
    expect(noteOf(approved)).toBe("hello");
  });

  test("what is allowed for the session is asked once", async () => {
    const world = await durableWorld([WRITES, WRITES]);
    const { code } = await world.cliAnswering(["s"], ...START);
    expect(code).toBe(0);
  });

  test("prints each event with --events", async () => {
    const world = await durableWorld([]);
    const { stdout } = await world.cli("run", "writer", "Go.", "--durable", "--events");
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.at(0)?.type).toBe("run-started");
    expect(events.at(-1)?.type).toBe("run-finished");
    expect(events.some(({ type }) => type === "text-delta")).toBe(true);
  });

  test.each([
    ["--record", "run.jsonl"],
    ["--replay", "run.jsonl"],
    ["--variables", "values.env"],
    ["--env-file", "values.env"],
  ])("refuses %s, whose value is not written down", async (flag, value) => {
    const world = createWorld();
    world.write({ "project/values.env": "TOKEN=secret\n" });
    const { code, stderr } = await world.cli("run", "writer", "--durable", flag, value);
    expect(code).toBe(2);
    expect(stderr).toContain(`\`${flag}\` can't be used with \`--durable\``);
    expect(existsSync(serviceFolder(world))).toBe(false);
  });

  test("ends with 6 while another process has the folder", async () => {
    const world = await durableWorld([WRITES]);
    const runId = await startWaiting(world);
    const other = await openLocal({ folder: serviceFolder(world), environment: {} });
    if (!other.ok) throw new Error(other.refusal.message);
    const { code, stderr } = await world.cli("run", "writer", "--durable");
    expect(code).toBe(6);
    expect(stderr).toContain("allow only one at a time");
    const { json } = await world.cli("runs", "resume", runId, "--json");
    expect(json.error.code).toBe("durable.unavailable");
    expect((await world.cli("runs")).stdout).toContain(`metier runs resume ${runId}`);
    // A service leaves a run of the command line alone.
    expect(await other.value.engine.counts()).toEqual({ queued: 0, parked: 0, running: 0 });
    await other.value.close();
  });
});

describe("metier runs resume", () => {
  test("goes on in the folder it was started in, from anywhere, by a beginning of the id", async () => {
    const world = await durableWorld([WRITES]);
    const runId = await startWaiting(world);
    const elsewhere = ["--cwd", world.home];
    const { code, stdout } = await world.cliAnswering(
      ["y"],
      "runs",
      "resume",
      runId.slice(0, -3),
      ...elsewhere,
    );
    expect(code).toBe(0);
    expect(stdout).toContain("All done.");
    expect(noteOf(world)).toBe("hello");
    expect(world.asked()).toBe(2);
    expect((await world.cli("runs", "--json")).json).not.toHaveProperty("durable");
  });

  test("waits again where nobody can be asked; --approve says yes", async () => {
    const world = await durableWorld([WRITES]);
    const runId = await startWaiting(world);
    const { code, json } = await world.cli("runs", "resume", runId, "--json");
    expect([code, json.status]).toEqual([3, "waiting"]);
    expect(json.questions).toMatchObject([{ kind: "approval", tool: "write_file" }]);
    const done = await world.cli("runs", "resume", runId, "--approve");
    expect([done.code, done.stdout]).toEqual([0, "All done.\n"]);
  });

  test("runs lists what waits, what it asks, and how to go on", async () => {
    const world = await durableWorld([WRITES]);
    const runId = await startWaiting(world);
    const { stdout } = await world.cli("runs");
    expect(stdout).toMatch(new RegExp(`^${runId} .* waiting`));
    expect(stdout).toContain("asks write_file: note.txt");
    const { json } = await world.cli("runs", "--json");
    expect(json.durable).toMatchObject([{ runId, skill: "writer", status: "waiting" }]);
    expect((await world.cli("runs", "--skill", "other", "--json")).json).toEqual({ runs: [] });
  });

  test("says when there is no such run, and when it isn't durable", async () => {
    const world = await durableWorld([]);
    const none = await world.cli("runs", "resume", "nothing");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("No durable run has the id")]);
    expect(existsSync(serviceFolder(world))).toBe(false);
    const { json } = await world.cli("run", "writer", "Go.", "--json");
    const plain = await world.cli("runs", "resume", json.runId);
    expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining("it isn't durable")]);
    expect((await world.cli("runs", "resume")).code).toBe(2);
  });

  test("a skill that changed is not resumed, and says why", async () => {
    const world = await durableWorld([WRITES]);
    const runId = await startWaiting(world);
    world.write({ "home/.metier/skills/writer/SKILL.md": skill("writer", "", "Do another thing.") });
    const { code, stderr } = await world.cli("runs", "resume", runId, "--approve");
    expect(code).toBe(5);
    expect(stderr).toContain("the content of `writer` changed");
    expect(existsSync(join(world.project, "note.txt"))).toBe(false);
  });

  test("says when its folder is gone, and goes on when it is back", async () => {
    const world = await durableWorld([WRITES]);
    const runId = await startWaiting(world);
    renameSync(world.project, `${world.project}-away`);
    const gone = await world.cli("runs", "resume", runId, "--cwd", world.home);
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining("no longer exists")]);
    renameSync(`${world.project}-away`, world.project);
    expect((await world.cli("runs", "resume", runId, "--approve")).code).toBe(0);
  });

  test("a run that is deleted is forgotten, also when it waits; not while another process has it", async () => {
    const world = await durableWorld([WRITES]);
    const runId = await startWaiting(world);
    const other = await openLocal({ folder: serviceFolder(world), environment: {} });
    if (!other.ok) throw new Error(other.refusal.message);
    expect((await world.cli("runs", "delete", runId)).code).toBe(6);
    await other.value.close();
    expect((await world.cli("runs", "delete", runId, "--json")).json.removed).toEqual([runId]);
    expect((await world.cli("runs", "--json")).json).toEqual({ runs: [] });
    expect((await world.cli("runs", "resume", runId)).code).toBe(1);
  });

  test("leaves runs of the service to the service", async () => {
    const world = createWorld();
    const local = await openLocal({ folder: serviceFolder(world), environment: {} });
    if (!local.ok) throw new Error(local.refusal.message);
    await local.value.journal.create({ id: "theirs", tenant: "default", skill: "writer", order: {} });
    await local.value.close();
    const { code, stderr } = await world.cli("runs", "resume", "theirs");
    expect([code, stderr]).toEqual([2, expect.stringContaining("belongs to the service")]);
  });
});

describe("metier serve --rotate-key", () => {
  test("puts a new key before the others, and a run that waited goes on", async () => {
    const world = await durableWorld([WRITES]);
    const runId = await startWaiting(world);
    const file = join(serviceFolder(world), "master-key.json");
    const before = JSON.parse(readFileSync(file, "utf8")).keys;
    const { code, json } = await world.cli("serve", "--rotate-key", "--json");
    expect([code, json.file]).toEqual([0, file]);
    const after = JSON.parse(readFileSync(file, "utf8")).keys;
    expect(after.slice(1)).toEqual(before);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await world.cli("runs", "resume", runId, "--approve")).code).toBe(0);
  });

  test("is refused where the key comes from the environment", async () => {
    const world = createWorld({ environment: { METIER_MASTER_KEY: "ab".repeat(32) } });
    const { code, stderr } = await world.cli("serve", "--rotate-key");
    expect(code).toBe(6);
    expect(stderr).toContain("is set in `METIER_MASTER_KEY`");
    expect(stderr).not.toContain("abab");
  });
});

describe("metier serve", () => {
  test("ends with 6 when the master key is another one than the folder was written with", async () => {
    const world = createWorld({ environment: { METIER_MASTER_KEY: "ab".repeat(32) } });
    const environment = { METIER_MASTER_KEY: "cd".repeat(32) };
    const first = await openLocal({ folder: serviceFolder(world), environment });
    if (!first.ok) throw new Error(first.refusal.message);
    await first.value.close();
    const { code, stderr } = await world.cli("serve", "--port", "0");
    expect(code).toBe(6);
    expect(stderr).toContain("The master key is wrong");
    expect(stderr).toContain("METIER_MASTER_KEY=<new>,<old>");
    expect(stderr).not.toMatch(/abab|cdcd/);
  });
});

describeSandbox("a change by a capability in a durable run of the terminal", () => {
  const ADD = `metier-sb capability invoke -c notes.pad -o add -i '{"text": "milk"}'`;

  async function padWorld() {
    const bridge = writeNotesBridge(temporaryFolder());
    const world = await durableWorld([{ tool: "bash", input: { command: ADD } }], { more: bridge.config });
    world.write({
      "home/.metier/skills/writer/SKILL.md": skill(
        "writer",
        "capabilities: [notes.pad]\nallowed-tools: Bash",
      ),
    });
    return { world, added: () => bridge.asked().filter((line) => line.startsWith("invoke add")) };
  }

  test("waits where nobody can be asked, `--approve` or not; `resume` shows it and makes it after a yes", async () => {
    const { world, added } = await padWorld();
    const { code, stderr } = await world.cli("run", "writer", "Go.", "--durable", "--approve");
    expect(code).toBe(3);
    expect(stderr).toContain("Waiting for an answer: notes.pad add:");
    const { json } = await world.cli("runs", "--json");
    const [{ runId }] = json.durable;
    expect((await world.cli("runs", "resume", runId, "--approve")).code).toBe(3);
    expect(added()).toEqual([]);
    const resumed = await world.cliAnswering(["yes"], "runs", "resume", runId);
    expect([resumed.code, resumed.stdout]).toEqual([0, expect.stringContaining("All done.")]);
    expect(resumed.stderr).toContain("Metier is about to make this change for you:");
    expect(resumed.stderr).toContain("operation: add - Does add.");
    expect(added()).toEqual(['invoke add {"text":"milk"}']);
  });

  test("is asked about at once where somebody is there, and not made after a no", async () => {
    const { world, added } = await padWorld();
    const { code, stdout } = await world.cliAnswering(["no"], "run", "writer", "Go.", "--durable");
    expect([code, stdout]).toEqual([0, expect.stringContaining("All done.")]);
    expect(added()).toEqual([]);
  });
});
