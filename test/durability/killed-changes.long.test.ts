/** Changes by capabilities whose process is killed in the middle: made once, or told as unknown. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { DurableRun } from "@metier/durable";
import { openLocal } from "@metier/durable/sqlite";
import { createRunId, type RunEvent } from "@metier/run/events";
import { expect, onTestFinished, test } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { createRunWorld, eventsOf } from "../support/scripted-runs.ts";
import { type StreamedAnswer, startStreaming } from "../support/streaming-provider.ts";
import type { World } from "../support/world.ts";
import { holdFile, readLedger } from "./ledger-provider.ts";

const TIMES = { timeout: 240_000 };
const PROGRAM = fileURLToPath(new URL("./change-worker.ts", import.meta.url));

const invoke = (operation: string, line: string): string =>
  `metier-sb capability invoke -c ledger.book -o ${operation} -i '${JSON.stringify({ text: line })}'`;
const note = (line: string): string => `echo ${line} >> "$METIER_WORK_DIR/log.txt"`;

interface Book {
  readonly world: World;
  readonly runId: string;
  /** Until it ends by itself, or until this is so: then it is killed. */
  work(who: "yes" | "nobody", killWhen?: () => boolean): Promise<void>;
  answer(status: "approved" | "denied"): Promise<void>;
  look(): Promise<{ readonly run: DurableRun; readonly events: readonly RunEvent[] }>;
}

/** A model that makes this one call, and then is done. */
async function openBook(command: string): Promise<Book> {
  const world = createRunWorld({ book: ["capabilities: [ledger.book]\nallowed-tools: Bash"] });
  const provider = await startStreaming((body): StreamedAnswer => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    const hasCalled = messages.some(({ role }) => role === "tool");
    return hasCalled ? { pieces: ["Done."] } : { pieces: [], call: { tool: "bash", input: { command } } };
  });
  world.write({ "home/.metier/config.toml": provider.toml });
  const runId = createRunId();
  const inJournal = async <Value>(act: (journal: Journal) => Promise<Value>): Promise<Value> => {
    const local = await openLocal({ folder: join(world.home, ".metier", "state", "service") });
    if (!local.ok) throw new Error(local.refusal.message);
    try {
      return await act(local.value);
    } finally {
      await local.value.close();
    }
  };
  return {
    world,
    runId,
    work: (who, killWhen) => work(world, runId, who, killWhen),
    answer: (status) =>
      inJournal(async ({ journal, engine }) => {
        const [question] = await journal.questions({ rootId: runId, status: "pending", limit: 10 });
        expect(question?.kind).toBe("confirmation");
        expect((await journal.answer(String(question?.id), { status, by: "bob" })).kind).toBe("taken");
        await engine.wake(runId);
      }),
    look: () =>
      inJournal(async ({ journal }) => {
        const run = await journal.get(runId);
        if (run === undefined) throw new Error("The run is gone.");
        const stored = await journal.events(runId, 0, 10_000);
        return { run, events: stored.map(({ event }) => event as unknown as RunEvent) };
      }),
  };
}

type Journal = Extract<Awaited<ReturnType<typeof openLocal>>, { ok: true }>["value"];

async function work(
  { root }: World,
  runId: string,
  who: string,
  killWhen: (() => boolean) | undefined,
): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, root, runId, who], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { PATH: process.env.PATH, HOME: join(root, "home") },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = once(child, "exit");
  if (killWhen) {
    while (!killWhen() && child.exitCode === null) await wait(20);
    child.kill("SIGKILL");
  }
  const [code] = (await ended) as unknown as readonly [number | null];
  expect(code).toBe(killWhen ? null : 0);
}

function logOf({ world, runId }: Book): string {
  return readFileSync(join(world.home, ".metier", "state", "runs", runId, "work", "log.txt"), "utf8");
}

function hold({ world }: Book, line: string): () => boolean {
  world.write({ [`hold ${line}`]: "" });
  return () => readLedger(world.root).includes(line);
}

function letGo({ world }: Book, line: string): void {
  rmSync(holdFile(world.root, line));
}

describeSandbox(
  "a process that is killed after a provider has acted and before its answer is recorded",
  () => {
    test(
      "of an idempotent operation, the call begins again with the same key, and nothing happens twice",
      TIMES,
      async () => {
        const book = await openBook(`${note("before")}; ${invoke("set", "a")} && ${note("after")}`);
        await book.work("yes", hold(book, "set a"));
        letGo(book, "set a");
        await book.work("yes");
        const { run, events } = await book.look();
        expect(run.result).toMatchObject({ status: "completed", text: "Done." });
        expect(eventsOf(events, "tool-finished")).toMatchObject([{ isError: false }]);
        expect(readLedger(book.world.root)).toEqual(["set a"]);
        expect(logOf(book)).toBe("before\nafter\n");
      },
    );

    test(
      "of an operation that is not, the call is not made again, and the model is told that nobody knows",
      TIMES,
      async () => {
        const book = await openBook(invoke("add", "a"));
        await book.work("yes", hold(book, "add a"));
        letGo(book, "add a");
        await book.work("yes");
        const { events } = await book.look();
        expect(eventsOf(events, "tool-finished")).toMatchObject([
          { isError: true, text: expect.stringContaining("The outcome of this `bash` call is unknown") },
        ]);
        expect(readLedger(book.world.root)).toEqual(["add a"]);
      },
    );

    test("what had come to its end before is answered from the journal", TIMES, async () => {
      const command = `${invoke("read", "")}; ${invoke("add", "a")} && ${invoke("set", "b")} && ${note("all")}`;
      const book = await openBook(command);
      await book.work("yes", hold(book, "set b"));
      letGo(book, "set b");
      await book.work("yes");
      const { run, events } = await book.look();
      expect(eventsOf(events, "tool-finished")).toMatchObject([{ isError: false }]);
      expect(readLedger(book.world.root)).toEqual(["add a", "set b"]);
      expect(logOf(book)).toBe("all\n");
      // The first process told of what it read and added; the second one was told the rest, and what was known.
      expect(run.result).toMatchObject({
        capabilities: [
          { operation: "add", calls: 2, failed: 0 },
          { operation: "read", calls: 2, failed: 0 },
          { operation: "set", calls: 1, failed: 0 },
        ],
      });
    });
  },
);

describeSandbox("a change that waits for a person", () => {
  test("survives a kill while it waits and a kill after the answer, and is made once", TIMES, async () => {
    const book = await openBook(`${note("before")}; ${invoke("set", "a")} && ${note("after")}`);
    const { root } = book.world;
    book.world.write({ stay: "" });
    await book.work("nobody", () => existsSync(join(root, "waits")));
    rmSync(join(root, "stay"));
    expect((await book.look()).run.status).toBe("waiting");
    expect(readLedger(book.world.root)).toEqual([]);
    await book.answer("approved");
    await book.work("nobody", hold(book, "set a"));
    letGo(book, "set a");
    await book.work("nobody");
    const { run, events } = await book.look();
    expect(run.result).toMatchObject({ status: "completed", text: "Done." });
    expect(eventsOf(events, "approval-asked")).toHaveLength(1);
    expect(eventsOf(events, "approval-answered")).toHaveLength(1);
    expect(readLedger(book.world.root)).toEqual(["set a"]);
    expect(logOf(book)).toBe("before\nafter\n");
  });

  test(
    "after one that was made already is not made when they say no; the first is not made again",
    TIMES,
    async () => {
      const first = `${note("first")}; ${invoke("set", "a")}`;
      const book = await openBook(`${first}; ${invoke("add", "b")} || ${note("refused")}`);
      await book.work("nobody");
      await book.answer("approved");
      await book.work("nobody");
      expect(readLedger(book.world.root)).toEqual(["set a"]);
      await book.answer("denied");
      await book.work("nobody");
      const { run } = await book.look();
      expect(run.result).toMatchObject({ status: "completed" });
      expect(readLedger(book.world.root)).toEqual(["set a"]);
      expect(logOf(book)).toBe("first\nrefused\n");
    },
  );
});
