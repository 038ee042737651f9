/**
 * Runs that do what their message says, on the real journal: enough of a run for the service, without a model. A line each:
 * `approve <tool>` and `ask <question>` wait for a person, `say <n>` writes so many events, `wait` waits until it is
 * cancelled, `leak` puts places of the server into its events and its result, `model` asks one.
 */
import type { Json, JsonObject } from "@metier/base/json";
import {
  type AdvanceOutcome,
  type DurableRun,
  ENDED,
  forAllTenants,
  forTenant,
  type JournalBatch,
  type JournalLease,
  type JournalStore,
  type NewQuestion,
  type RunLease,
} from "@metier/durable";

export const WORK_DIR = "/srv/metier-home/state/runs/some-run/work";

export interface ScriptOptions {
  /** How long questions wait. */
  readonly expireAfterMs?: number;
  /** Of the calls that wait for approval. */
  readonly input?: Json;
}

export function scriptRuns(
  options: ScriptOptions = {},
): (journal: JournalStore) => (lease: RunLease) => Promise<AdvanceOutcome> {
  return (journal) => async (lease) => {
    const run = await forAllTenants(() => journal.get(lease.runId));
    if (run === undefined || ENDED.has(run.status)) return { kind: "ended" };
    return forTenant(run.tenant, () => play(journal, lease, options));
  };
}

async function play(journal: JournalStore, lease: RunLease, options: ScriptOptions): Promise<AdvanceOutcome> {
  await journal.take(leaseOf(lease));
  const run = await journal.get(lease.runId);
  if (run === undefined || ENDED.has(run.status)) return { kind: "ended" };
  const scene = openScene(journal, lease, run, options);
  if (run.isCancelled) return scene.end("cancelled");
  if (run.lastEvent === 0) await scene.write(STARTED, { status: "running" });
  else await scene.note({ status: "running" });
  for (const [number, line] of scriptOf(run).entries()) {
    if (lease.stopping.aborted) return { kind: "released" };
    const outcome = await doLine(scene, `line-${number}`, line);
    if (outcome !== undefined) return outcome;
  }
  return scene.end("completed");
}

interface Scene {
  readonly journal: JournalStore;
  readonly run: DurableRun;
  readonly options: ScriptOptions;
  readonly said: string[];
  write(event: JsonObject, more?: Partial<JournalBatch>): Promise<void>;
  /** Once, whatever happened in between. */
  writeOnce(key: string, event: JsonObject): Promise<void>;
  note(batch: Partial<JournalBatch>): Promise<void>;
  end(status: "completed" | "cancelled"): Promise<AdvanceOutcome>;
}

function openScene(journal: JournalStore, lease: RunLease, run: DurableRun, options: ScriptOptions): Scene {
  let seq = run.lastEvent;
  const said: string[] = [];
  const note: Scene["note"] = (batch) => journal.write(leaseOf(lease), { runId: run.id, ...batch });
  const write: Scene["write"] = (event, more) => {
    seq += 1;
    const at = new Date().toISOString();
    return note({ events: [{ seq, event: { v: 1, runId: run.id, seq, at, ...event } }], ...more });
  };
  return {
    journal,
    run,
    options,
    said,
    note,
    write,
    async writeOnce(key, event) {
      const isThere = (await journal.entries(run.id)).some((entry) => entry.key === key);
      if (!isThere) await write(event, { entries: [{ key, value: true }] });
    },
    async end(status) {
      const text = said.join("; ");
      await write({ type: "run-finished", status, text }, { status, result: resultOf(run, status, text) });
      return { kind: "ended" };
    },
  };
}

function leaseOf({ runId: rootId, holder, term }: RunLease): JournalLease {
  return { rootId, holder, term };
}

async function doLine(scene: Scene, key: string, line: string): Promise<AdvanceOutcome | undefined> {
  if (/^(approve|ask) /.test(line)) return waitForAnswer(scene, key, line);
  if (line === "wait") {
    await scene.note({ status: "waiting" });
    return { kind: "parked" };
  }
  if (line === "model") for (const step of [1, 2]) await scene.writeOnce(`${key}-${step}`, modelCalled(step));
  if (line === "leak") await scene.writeOnce(key, LEAKING);
  const [, count = "0"] = /^say (\d+)$/.exec(line) ?? [];
  for (let step = 0; step < Number(count); step += 1) {
    await scene.writeOnce(`${key}-${step}`, { type: "model-answered", step });
    await new Promise<void>((resolve) => setTimeout(resolve, 1));
  }
  return undefined;
}

async function waitForAnswer(scene: Scene, key: string, line: string): Promise<AdvanceOutcome | undefined> {
  const asked = await scene.journal.questionFor(scene.run.id, key);
  if (asked !== undefined && asked.status !== "pending") {
    scene.said.push(`${asked.status} ${JSON.stringify(asked.answer ?? null)}`);
    await scene.writeOnce(key, { type: "tool-called", decision: asked.status });
    return undefined;
  }
  const question = asked ?? makeQuestion(scene.run.id, key, line, scene.options);
  await scene.note({ questions: asked === undefined ? [question] : [], status: "waiting" });
  const { expiresAt } = question;
  return { kind: "parked", ...(expiresAt !== undefined && { until: new Date(expiresAt) }) };
}

function scriptOf({ order }: DurableRun): readonly string[] {
  return typeof order.message === "string" ? order.message.split("\n").filter((line) => line !== "") : [];
}

function makeQuestion(
  runId: string,
  key: string,
  line: string,
  { expireAfterMs, input = { path: `${WORK_DIR}/notes.txt` } }: ScriptOptions,
): NewQuestion {
  const [verb = "", rest = ""] = line.split(/ (.*)/);
  const call = { tool: rest, input, rule: "ask" };
  return {
    id: `q-${runId}-${key}`,
    key,
    kind: verb === "ask" ? "question" : "approval",
    body: verb === "ask" ? { question: rest } : call,
    ...(expireAfterMs !== undefined && { expiresAt: Date.now() + expireAfterMs }),
  };
}

const STARTED: JsonObject = {
  type: "run-started",
  skill: "greet",
  workDir: WORK_DIR,
  skillDir: "/srv/metier-home/skills/greet",
  location: "/srv/metier-home/skills/greet/SKILL.md",
  cwd: "/srv/metier-home/elsewhere",
  env: ["TOKEN"],
  model: "scripted",
};

/** The second turn of a conversation: all but the last message of its user is not what was asked. */
function modelCalled(step: number): JsonObject {
  const said = (role: string, text: string): JsonObject => ({ role, parts: [{ type: "text", text }] });
  const result = { type: "tool-result", callId: "1", tool: "bash", text: "OLD RESULT", isError: false };
  const asked = { type: "text", text: `Read ${WORK_DIR}/notes.txt with [redacted:TOKEN]` };
  const messages = [
    said("user", "OLD TURN"),
    said("assistant", "OLD ANSWER"),
    { role: "tool", parts: [result] },
    { role: "user", parts: [asked, result] },
  ];
  return { type: "model-called", step, system: "INSTRUCTIONS", messages };
}

const LEAKING: JsonObject = {
  type: "tool-finished",
  tool: "bash",
  text: `wrote ${WORK_DIR}/notes.txt with /srv/metier-home/skills/greet/run.sh`,
  sandbox: { granted: { read: ["/srv/elsewhere"], write: [WORK_DIR] } },
};

function resultOf({ id, skill }: DurableRun, status: string, text: string): Json {
  return {
    runId: id,
    skill: skill ?? "",
    status,
    text,
    usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    cost: 0.25,
    files: [{ path: "notes.txt", size: 2 }],
    sandbox: { backend: "bubblewrap", used: { read: ["/srv/elsewhere"], write: [`${WORK_DIR}/notes.txt`] } },
    diagnostics: [{ code: "x", message: `see ${WORK_DIR}`, path: "/srv/somewhere" }],
  };
}
