/** What processes on one database tell each other. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import postgres from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { describeWithPostgres, newDatabase } from "../../../test/support/postgres.ts";
import type { BusNotice, NoticeBus } from "../src/index.ts";
import { createOutbox, readPayload } from "../src/postgres/notice-payloads.ts";
import { openPostgresNotices, type PostgresNotices } from "../src/postgres/notices.ts";
import { until } from "./contract/engine-work.ts";

function openNotices(url: string): PostgresNotices {
  const notices = openPostgresNotices({ url });
  onTestFinished(() => notices.close());
  return notices;
}

function collect(bus: NoticeBus): BusNotice[] {
  const heard: BusNotice[] = [];
  bus.onNotice((notice) => heard.push(notice));
  return heard;
}

/** Again until it is heard: nobody says when another one has begun to listen. */
async function tellUntil(bus: NoticeBus, notice: BusNotice, isHeard: () => boolean): Promise<void> {
  while (!isHeard()) {
    bus.tell(notice);
    await delay(50);
  }
}

const RUN = { kind: "run", runId: "r" } as const;

describeWithPostgres("notices on Postgres", () => {
  test("reach other processes, and not the one that told them", async () => {
    const { url } = await newDatabase();
    const { bus } = openNotices(url);
    const own = collect(bus);
    const script = fileURLToPath(new URL("./support/notices-process.ts", import.meta.url));
    const answers: readonly BusNotice[] = [
      { kind: "list", of: "approval", id: "q", runId: "r" },
      { kind: "catalog", tenant: "acme" },
      { kind: "watch", runId: "r" },
    ];
    const child = spawn(process.execPath, [script, url, ...answers.map((answer) => JSON.stringify(answer))], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const there: unknown[] = [];
    createInterface(child.stdout).on("line", (line) => there.push(JSON.parse(line)));
    await tellUntil(bus, RUN, () => there.length > 0);
    await until(() => own.length >= answers.length);
    expect(own).toEqual(answers);
    expect(there[0]).toEqual(RUN);
    // It follows the run now, so that it hears what its model writes, however long that is.
    const text = 'Zeile\u0000 "ä" 🎈'.repeat(3000);
    bus.tell({ kind: "text", runId: "r", text });
    const heardText = (): string =>
      (there as BusNotice[]).map((notice) => (notice.kind === "text" ? notice.text : "")).join("");
    await until(() => heardText().length >= text.length);
    expect(heardText()).toBe(text);
    expect(own).toHaveLength(answers.length);
  });

  test("are heard again after the connection was cut, and text only by those who follow a run", async () => {
    const { url, superUrl } = await newDatabase();
    const [teller, other] = [openNotices(url), openNotices(url)];
    const heard = collect(other.bus);
    let ticks = 0;
    other.ticks.onTick(() => (ticks += 1));
    await tellUntil(teller.bus, RUN, () => heard.length > 0);
    const sql = postgres(superUrl, { max: 1 });
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'metier' AND datname = current_database()`;
    await sql.end();
    const before = heard.length;
    await tellUntil(teller.bus, RUN, () => heard.length > before);
    const ticksBefore = ticks;
    while (ticks === ticksBefore) {
      teller.ticks.tell();
      await delay(50);
    }
    teller.bus.tell({ kind: "text", runId: "r", text: "secret" });
    const last = { kind: "run", runId: "last" } as const;
    teller.bus.tell(last);
    await until(() => heard.some((notice) => notice.kind === "run" && notice.runId === "last"));
    expect(heard.filter(({ kind }) => kind === "text")).toEqual([]);
  });

  test("wake a worker of another process", async () => {
    const { url } = await newDatabase();
    const [teller, other] = [openNotices(url), openNotices(url)];
    let ticks = 0;
    other.ticks.onTick(() => (ticks += 1));
    await until(() => ticks > 0); // It listens.
    const before = ticks;
    teller.ticks.tell();
    await until(() => ticks > before);
  });

  test("ignore what is not one of them", async () => {
    const { url } = await newDatabase();
    const [teller, other] = [openNotices(url), openNotices(url)];
    const heard = collect(other.bus);
    await tellUntil(teller.bus, RUN, () => heard.length > 0);
    const sql = postgres(url, { max: 1 });
    for (const text of [
      "",
      "{",
      "[]",
      "[1]",
      '["x",1,null,{"kind":"run"},{"kind":"toString"},{"kind":"run","runId":7}]',
    ]) {
      await sql`SELECT pg_notify('metier_notice', ${text})`;
    }
    await sql`SELECT pg_notify('metier_notice', '["x",1,{"kind":"run","runId":"from elsewhere"}]')`;
    await sql.end();
    await until(() => heard.some((notice) => notice.kind === "run" && notice.runId === "from elsewhere"));
    expect(heard.every((notice) => notice.kind === "run" && notice.runId !== undefined)).toBe(true);
  });
});

test("notices that wait together are sent once each, in payloads that Postgres takes", () => {
  const outbox = createOutbox("me");
  for (let number = 0; number < 2000; number += 1) {
    outbox.add({ kind: "run", runId: `run-${number % 300}` });
    outbox.add({ kind: "text", runId: "r", text: `${number} 🎈\n` });
  }
  const payloads = outbox.take();
  const read = payloads.flatMap(({ text }) => readPayload(text)?.notices ?? []);
  expect(payloads.every(({ text }) => Buffer.byteLength(text) < 8000)).toBe(true);
  expect(read.filter(({ kind }) => kind === "run")).toHaveLength(300);
  const text = read.map((notice) => (notice.kind === "text" ? notice.text : "")).join("");
  expect(text).toBe(Array.from({ length: 2000 }, (_, number) => `${number} 🎈\n`).join(""));
  expect(outbox.take()).toEqual([]);
});
