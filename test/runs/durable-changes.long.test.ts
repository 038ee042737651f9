/** Changes by capabilities in durable runs: confirmed by whoever is there or by a row, and made once. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { CapabilityUse } from "@metier/run/events";
import { expect, test } from "vitest";
import { createLedger, readLedger } from "../durability/ledger-provider.ts";
import {
  type Durable,
  journaledEvents,
  onlyQuestion,
  openDurable,
  workAs,
  workUntil,
} from "../support/durable-runs.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, calls, createRunWorld, eventsOf, says, useSkill } from "../support/scripted-runs.ts";
import type { World } from "../support/world.ts";

const CALLER = { userId: "ada", chatId: "42", chatType: "private" } as const;
const DECLARED = "capabilities: [ledger.book]\nallowed-tools: Bash, use_skill, run_script";

const invoke = (operation: string, line: string, key?: string): string =>
  `metier-sb capability invoke -c ledger.book -o ${operation} -i '${JSON.stringify({ text: line })}'${key ? ` -k ${key}` : ""}`;
const note = (line: string): string => `echo ${line} >> "$METIER_WORK_DIR/log.txt"`;

interface Ledger {
  readonly world: World;
  readonly durable: Durable;
}

type Script = Parameters<typeof openDurable>[1];

function openLedger(script: Script, skills: Readonly<Record<string, readonly [string?]>> = {}): Ledger {
  const world = createRunWorld({ book: [DECLARED], ...skills });
  return { world, durable: openDurable(world, script) };
}

type Confirm = () => "yes" | "no" | "later";

function open({ world, durable }: Ledger, confirm?: Confirm) {
  return durable.open({
    capabilities: { providers: [createLedger(world.root)], ...(confirm && { confirm }) },
  });
}

type Opened = Awaited<ReturnType<typeof open>>;

async function startWaiting(metier: Opened, skill = "book"): Promise<string> {
  const runId = await metier.durable.start({ skill, message: "Do it.", caller: CALLER });
  await workUntil(metier, runId, "waiting", "completed", "failed");
  return runId;
}

function logOf({ world }: Ledger, runId: string): string {
  const file = join(world.home, ".metier", "state", "runs", runId, "work", "log.txt");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

async function finished(ledger: Ledger, runId: string): Promise<readonly string[]> {
  const events = await journaledEvents(ledger.durable, runId);
  return eventsOf(events, "tool-finished").map(({ text }) => text);
}

describeSandbox("a change that nobody is there to confirm", () => {
  test("parks the run; another process makes it after the yes, once, and the call goes on", async () => {
    const command = `${note("before")}; ${invoke("add", "a")} && ${note("after")}`;
    const ledger = openLedger([bash(command), says("Done.")]);
    const first = await open(ledger);
    const runId = await startWaiting(first);
    const question = await onlyQuestion(first);
    expect(question).toMatchObject({
      kind: "confirmation",
      body: {
        tool: "ledger.book add",
        capability: "ledger.book",
        operation: "add",
        description: "Adds a line.",
        user: "ada",
        skill: "book",
        input: { text: "a" },
      },
    });
    expect(readLedger(ledger.world.root)).toEqual([]);
    await first.durable.answer(question.id, { status: "approved", by: "bob" });
    const second = await open(ledger);
    const run = await workUntil(second, runId, "completed", "failed");
    expect(run.result).toMatchObject({
      status: "completed",
      capabilities: [{ capability: "ledger.book", operation: "add", calls: 1, failed: 0 }],
    });
    expect(readLedger(ledger.world.root)).toEqual(["add a"]);
    const events = await journaledEvents(ledger.durable, runId);
    expect(eventsOf(events, "tool-called")).toHaveLength(1);
    expect(eventsOf(events, "approval-asked")).toMatchObject([
      { kind: "confirmation", tool: "ledger.book add", input: { text: "a" }, questionId: question.id },
    ]);
    expect(eventsOf(events, "approval-answered")).toMatchObject([{ status: "approved", by: "bob" }]);
  });

  test("is refused where they say no, with what they noted; and where nobody answers in time", async () => {
    const ledger = openLedger([
      bash(`${invoke("add", "a")} || ${note("refused")}`),
      bash(invoke("add", "b")),
      says("Done."),
    ]);
    const metier = await open(ledger);
    const runId = await startWaiting(metier);
    const { id } = await onlyQuestion(metier);
    await metier.durable.answer(id, { status: "denied", by: "bob", answer: { note: "not today" } });
    await workAs({ questionMs: 1 }, metier, runId, "waiting");
    await ledger.durable.store.journal.expireQuestions(Date.now() + 1000);
    await ledger.durable.engine.wake(runId);
    const run = await workUntil(metier, runId, "completed", "failed");
    expect(run.result).toMatchObject({ capabilities: [{ calls: 2, failed: 2 }] });
    const [denied, expired] = await finished(ledger, runId);
    expect(denied).toContain("bob declined: not today");
    expect(expired).toContain("nobody answered in time");
    expect(readLedger(ledger.world.root)).toEqual([]);
    expect(logOf(ledger, runId)).toBe("refused\n");
  });

  test("of a cancelled run is never made", async () => {
    const ledger = openLedger([bash(invoke("add", "a"))]);
    const metier = await open(ledger);
    const runId = await startWaiting(metier);
    const { id } = await onlyQuestion(metier);
    await metier.durable.cancel(runId);
    await workUntil(metier, runId, "cancelled");
    expect(await metier.durable.answer(id, { status: "approved", by: "bob" })).toMatchObject({
      kind: "late",
      question: { status: "cancelled" },
    });
    expect(readLedger(ledger.world.root)).toEqual([]);
  });

  test("holds up what stands before it: that is answered from the journal, and not made again", async () => {
    const command = `${invoke("add", "a")} && ${invoke("add", "b")} && ${invoke("set", "c")} && ${note("all")}`;
    const ledger = openLedger([bash(command), says("Done.")]);
    const metier = await open(ledger);
    const runId = await startWaiting(metier);
    for (const line of ["a", "b", "c"]) {
      const { id, body } = await onlyQuestion(metier);
      expect(body.input).toEqual({ text: line });
      await metier.durable.answer(id, { status: "approved", by: "bob" });
      await workUntil(metier, runId, line === "c" ? "completed" : "waiting", "failed");
    }
    expect(readLedger(ledger.world.root)).toEqual(["add a", "add b", "set c"]);
    expect(logOf(ledger, runId)).toBe("all\n");
  });

  test("of a command that looks what is left to do is made, and what was made is not", async () => {
    const read = "metier-sb capability invoke -c ledger.book -o read";
    const command = ["a", "b"].map((line) => `${read} | grep -q "add ${line}" || ${invoke("add", line)}`);
    const ledger = openLedger([bash(command.join("; ")), says("Done.")]);
    const metier = await open(ledger);
    const runId = await startWaiting(metier);
    for (const status of ["waiting", "completed"] as const) {
      const { id } = await onlyQuestion(metier);
      await metier.durable.answer(id, { status: "approved", by: "bob" });
      await workUntil(metier, runId, status, "failed");
    }
    expect(readLedger(ledger.world.root)).toEqual(["add a", "add b"]);
  });

  test("is asked about again for another input of the same call, and in another call", async () => {
    const ledger = openLedger([
      bash(invoke("add", "same")),
      bash(`${invoke("add", "same")}; ${invoke("add", "same")}`),
      says("Done."),
    ]);
    const metier = await open(ledger);
    const runId = await startWaiting(metier);
    for (const status of ["waiting", "waiting", "completed"] as const) {
      const { id } = await onlyQuestion(metier);
      await metier.durable.answer(id, { status: "approved", by: "bob" });
      await workUntil(metier, runId, status, "failed");
    }
    expect(readLedger(ledger.world.root)).toEqual(["add same", "add same", "add same"]);
  });

  test("that is another one each time is asked about three times, and then refused", async () => {
    const ledger = openLedger([
      bash(`metier-sb capability invoke -c ledger.book -o add -i "{\\"text\\": \\"$(date +%s%N)\\"}"`),
      says("Done."),
    ]);
    const metier = await open(ledger);
    const runId = await startWaiting(metier);
    for (const status of ["waiting", "waiting", "completed"] as const) {
      const { id } = await onlyQuestion(metier);
      await metier.durable.answer(id, { status: "approved", by: "bob" });
      await workUntil(metier, runId, status, "failed");
    }
    const [text] = await finished(ledger, runId);
    expect(text).toContain("capability_mutation_plan_mismatch");
    expect(readLedger(ledger.world.root)).toEqual([]);
  });

  test("in two calls of one step waits twice, answered in either order", async () => {
    const ledger = openLedger([
      {
        answer: {
          toolCalls: ["a", "b"].map((line) => ({
            tool: "bash",
            input: { command: `${invoke("add", line)} && ${note(line)}` },
          })),
        },
      },
      says("Done."),
    ]);
    const metier = await open(ledger);
    const runId = await startWaiting(metier);
    const [a, b] = await metier.durable.questions();
    expect([a?.body.input, b?.body.input]).toEqual([{ text: "a" }, { text: "b" }]);
    await metier.durable.answer(String(b?.id), { status: "approved", by: "bob" });
    await workUntil(await open(ledger), runId, "waiting");
    await metier.durable.answer(String(a?.id), { status: "approved", by: "bob" });
    await workUntil(metier, runId, "completed", "failed");
    expect(readLedger(ledger.world.root).toSorted()).toEqual(["add a", "add b"]);
    expect(logOf(ledger, runId).split("\n").toSorted()).toEqual(["", "a", "b"]);
  });

  test("in a run that a skill started parks both, and both go on", async () => {
    const ledger = openLedger(
      [useSkill("book", "Do it."), bash(invoke("add", "a")), says("Inner done."), says("Done.")],
      { book: [`${DECLARED}\ncontext: fork`], outer: ["allowed-tools: Bash, use_skill"] },
    );
    const metier = await open(ledger);
    const runId = await startWaiting(metier, "outer");
    const { id, kind } = await onlyQuestion(metier);
    expect(kind).toBe("confirmation");
    await metier.durable.answer(id, { status: "approved", by: "bob" });
    await workUntil(metier, runId, "completed", "failed");
    expect(readLedger(ledger.world.root)).toEqual(["add a"]);
  });

  test("by a script of another skill waits, too", async () => {
    const ledger = openLedger(
      [calls("run_script", { skill: "book", script: "scripts/a.sh" }), says("Done.")],
      {
        other: ["allowed-tools: run_script"],
      },
    );
    ledger.world.write({ "home/.metier/skills/book/scripts/a.sh": `${invoke("add", "a")}\n` });
    const metier = await open(ledger);
    const runId = await startWaiting(metier, "other");
    const { id } = await onlyQuestion(metier);
    await metier.durable.answer(id, { status: "approved", by: "bob" });
    await workUntil(metier, runId, "completed", "failed");
    expect(readLedger(ledger.world.root)).toEqual(["add a"]);
  });

  test("asks whoever is there first; who puts it off leaves it to a row", async () => {
    const ledger = openLedger([bash(invoke("add", "a")), bash(invoke("add", "b")), says("Done.")]);
    const answers: ("yes" | "later")[] = ["later", "yes"];
    const metier = await open(ledger, () => answers.shift() ?? "no");
    const runId = await startWaiting(metier);
    const { id } = await onlyQuestion(metier);
    await metier.durable.answer(id, { status: "approved", by: "bob" });
    await workUntil(metier, runId, "completed", "failed");
    expect(readLedger(ledger.world.root)).toEqual(["add a", "add b"]);
    expect(answers).toEqual([]);
  });
});

describeSandbox("changes that a program agrees to at once", () => {
  test("under a key of the command's own is made once in a run, also on a machine that knows nothing of it", async () => {
    const again = `${invoke("add", "a", "once")} && ${note("again")}`;
    const ledger = openLedger([
      bash(invoke("add", "a", "once")),
      bash(invoke("add", "b")),
      bash(again),
      says("Done."),
    ]);
    let asked = 0;
    const first = await open(ledger, () => (asked++ === 0 ? "yes" : "later"));
    const runId = await startWaiting(first);
    const { id } = await onlyQuestion(first);
    // What the machine remembers of its calls stays behind.
    const state = join(ledger.world.home, ".metier", "state");
    for (const name of readdirSync(state))
      if (name.includes("capabilit")) rmSync(join(state, name), { recursive: true });
    await first.durable.answer(id, { status: "approved", by: "bob" });
    const second = await open(ledger);
    const run = await workUntil(second, runId, "completed", "failed");
    expect(run.result).toMatchObject({ status: "completed" });
    expect(readLedger(ledger.world.root)).toEqual(["add a", "add b"]);
    expect(logOf(ledger, runId)).toBe("again\n");
  });

  test("in one command, the same one twice and several at a time, are each made", async () => {
    const command = `${invoke("set", "a")} & ${invoke("set", "a")} & ${invoke("add", "b")} & wait; ${invoke("add", "b")}`;
    const ledger = openLedger([bash(command), says("Done.")]);
    const metier = await open(ledger, () => "yes");
    const runId = await startWaiting(metier);
    expect((await metier.durable.get(runId))?.status).toBe("completed");
    expect(readLedger(ledger.world.root).toSorted()).toEqual(["add b", "add b", "set a", "set a"]);
  });
});

describeSandbox("a result of a durable run", () => {
  test("counts what earlier processes asked of capabilities", async () => {
    const ledger = openLedger([bash(invoke("add", "a")), bash(invoke("set", "b")), says("Done.")]);
    const uses = async (runId: string, confirm: Confirm): Promise<readonly CapabilityUse[]> => {
      const run = await workUntil(await open(ledger, confirm), runId, "waiting", "completed", "failed");
      return (run.result as { capabilities?: readonly CapabilityUse[] } | undefined)?.capabilities ?? [];
    };
    const answers: ("yes" | "later")[] = ["yes", "later"];
    const metier = await open(ledger);
    const runId = await metier.durable.start({ skill: "book", message: "Do it.", caller: CALLER });
    expect(await uses(runId, () => answers.shift() ?? "no")).toEqual([]);
    const { id } = await onlyQuestion(metier);
    await metier.durable.answer(id, { status: "approved", by: "bob" });
    expect(await uses(runId, () => "no")).toEqual([
      { capability: "ledger.book", operation: "add", calls: 1, failed: 0 },
      { capability: "ledger.book", operation: "set", calls: 1, failed: 0 },
    ]);
  });
});
