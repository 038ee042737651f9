/**
 * One server and two workers by their real commands, on three homes, one Postgres and one object store: what a run of the
 * server's skill needs is found by workers that never saw it, and no machine is needed for it to go on.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ADMIN_KEY } from "../support/follow-events.ts";
import { createMachines, type Machines } from "../support/machines.ts";
import { describeWithPostgres } from "../support/postgres.ts";
import { processesWith, until } from "../support/processes.ts";
import { describeSandbox } from "../support/sandbox.ts";
import type { ServeProcess } from "../support/serve-process.ts";
import { type StreamedAnswer, startStreaming } from "../support/streaming-provider.ts";

const TIMES = { timeout: 240_000 };
const WORKERS = ["one", "two"] as const;

const LAST_WORDS = "All of it is done, and nothing is left.";
const note = (line: string): string => `echo ${line} >> "$METIER_WORK_DIR/log.txt"`;
const waitForGo = 'while [ ! -e "$METIER_WORK_DIR/go" ]; do sleep 0.1; done';

/** A model that makes these calls one after the other, and then says so in many words. */
async function startModel(...commands: readonly string[]) {
  return startStreaming((body): StreamedAnswer => {
    const { messages } = JSON.parse(body) as { readonly messages: readonly { readonly role: string }[] };
    const command = commands[messages.filter(({ role }) => role === "tool").length];
    if (command === undefined) return { pieces: [...LAST_WORDS] };
    return { pieces: [], call: { tool: "bash", input: { command } } };
  });
}

async function start(server: ServeProcess, skill: string, approve: "allow" | "ask" = "allow") {
  const { status, body } = await server.call("POST", "/v1/runs", { skill, message: "Go.", approve });
  expect([status, body.error]).toEqual([201, undefined]);
  return String(body.id);
}

async function workerOf({ placesOf }: Machines, runId: string): Promise<string> {
  let found: string | undefined;
  await until("a worker has taken the run", () => {
    found = placesOf(runId, ...WORKERS)[0];
    return found !== undefined;
  });
  return found ?? "";
}

function countOf(text: string, type: string): number {
  return text.match(new RegExp(`"type":"${type}"`, "g"))?.length ?? 0;
}

describeSandbox("one server and two workers with homes of their own", () => {
  describeWithPostgres("on Postgres", () => {
    test(
      "a run of the server's skill goes on elsewhere when its worker is killed, with its files",
      TIMES,
      async () => {
        const provider = await startModel(note("one"), `${note("two")}; ${waitForGo}`, note("three"));
        const machines = await createMachines({ build: ["allowed-tools: Bash"] }, provider);
        const server = await machines.serve("server");
        const workers = { one: await machines.work("one"), two: await machines.work("two") };
        const id = await start(server, "build");
        const first = await workerOf(machines, id);
        const log = (name: string): string => join(machines.workFolder(name, id), "log.txt");
        await until("the second call is made", () => existsSync(log(first)));
        await expect.poll(async () => countOf((await listEvents(server, id)).text, "tool-called")).toBe(2);
        await workers[first as "one" | "two"].kill();
        const second = first === "one" ? "two" : "one";
        await until("the other worker makes it again", () => existsSync(log(second)));
        expect(machines.placesOf(id, "server")).toEqual([]);
        writeFileSync(join(machines.workFolder(second, id), "go"), "");
        expect(await server.settle(id, "completed", "failed")).toMatchObject({
          status: "completed",
          text: LAST_WORDS,
        });
        const { text } = await listEvents(server, id);
        expect(countOf(text, "tool-finished")).toBe(3);
        // A busy machine may be late with a lease, too.
        expect(countOf(text, "run-resumed")).toBeGreaterThan(0);
        const file = await server.call("GET", `/v1/runs/${id}/files/log.txt`);
        expect(file.text).toBe("one\ntwo\nthree\n");
      },
    );

    test(
      "an approval that is answered on the server lets the run go on; what the model writes is seen there",
      TIMES,
      async () => {
        const provider = await startModel(note("one"));
        const machines = await createMachines({ build: [] }, provider);
        const server = await machines.serve("server");
        await machines.work("one");
        const id = await start(server, "build", "ask");
        await server.settle(id, "waiting");
        const seen = followText(server, id);
        await expect
          .poll(async () => (await server.call("GET", "/v1/approvals?status=pending")).body.data?.length)
          .toBe(1);
        const { body } = await server.call("GET", "/v1/approvals?status=pending");
        await server.call("POST", `/v1/approvals/${body.data?.[0]?.id}`, { decision: "approve" });
        expect(await server.settle(id, "completed", "failed")).toMatchObject({ status: "completed" });
        const { texts, types } = await seen;
        expect(types.at(-1)).toBe("run-finished");
        expect(texts.join("")).not.toBe("");
        expect(LAST_WORDS).toContain(texts.join(""));
        expect((await server.call("GET", `/v1/runs/${id}/files/log.txt`)).text).toBe("one\n");
      },
    );

    test("a run that is cancelled on the server leaves no process on its worker", TIMES, async () => {
      const mark = "sleep 7654321";
      const machines = await createMachines({ build: ["allowed-tools: Bash"] }, await startModel(mark));
      const server = await machines.serve("server");
      await machines.work("one");
      const id = await start(server, "build");
      await until("the command is under way", () => processesWith(mark).length > 0);
      const from = performance.now();
      await server.call("POST", `/v1/runs/${id}/cancel`);
      await until("its processes are gone", () => processesWith(mark).length === 0);
      const ms = Math.round(performance.now() - from);
      process.stderr.write(
        `cancelled on another machine: processes gone after ${ms} ms; promised are 2000 ms.\n`,
      );
      expect((await server.settle(id, "cancelled", "completed", "failed")).status).toBe("cancelled");
    });

    test(
      "a worker that is told to end gives its run back at once, and the other goes on",
      TIMES,
      async () => {
        const provider = await startModel(`${note("one")}; ${waitForGo}`);
        const machines = await createMachines({ build: ["allowed-tools: Bash"] }, provider);
        const server = await machines.serve("server");
        // Nobody waits for the end of this lease.
        const first = await machines.work("one", { lease: 3600 });
        const id = await start(server, "build");
        await until("the call is made", () => existsSync(join(machines.workFolder("one", id), "log.txt")));
        await machines.work("two", { lease: 3600 });
        expect(await first.terminate()).toBe(0);
        await until("it is made again", () => existsSync(join(machines.workFolder("two", id), "log.txt")));
        writeFileSync(join(machines.workFolder("two", id), "go"), "");
        expect((await server.settle(id, "completed", "failed")).status).toBe("completed");
        expect((await server.call("GET", `/v1/runs/${id}/files/log.txt`)).text).toBe("one\n");
      },
    );
  });
});

function listEvents(server: ServeProcess, id: string) {
  return server.call("GET", `/v1/runs/${id}/events?as=list`);
}

/** What the model was seen to write, and the types of all events, to the end of the run. */
async function followText(server: ServeProcess, id: string) {
  const response = await fetch(`${server.url}/v1/runs/${id}/events`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  const blocks = (await response.text()).split("\n\n").filter((block) => block.includes("data: "));
  const data = blocks.map((block) => JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "{}"));
  const isText = (at: number): boolean => blocks[at]?.startsWith("event: text") ?? false;
  return {
    texts: data.filter((_, at) => isText(at)).map(({ text }) => String(text)),
    types: data.filter((_, at) => !isText(at)).map(({ type }) => String(type)),
  };
}
