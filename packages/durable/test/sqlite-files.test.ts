/** The files of SQLite: whose they are, who may open them, and what is not printed. */
import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { BackendSqlite } from "openworkflow/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { newWorkflowRun } from "../src/engine/engine-queue.ts";
import { claimHome } from "../src/sqlite/claim-home.ts";
import { ENGINE_SCHEMA } from "../src/sqlite/engine-schema.ts";
import { openDatabase } from "../src/sqlite/open-database.ts";
import { openLocal, openSqliteEngine, openSqliteReader, openSqliteStore } from "../src/sqlite.ts";
import { ENDED, startWork, until } from "./contract/engine-work.ts";
import { required } from "./support/sqlite.ts";

const DOOR = fileURLToPath(new URL("../src/sqlite.ts", import.meta.url));
const CLAIM = fileURLToPath(new URL("../src/sqlite/claim-home.ts", import.meta.url));

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "metier-sqlite-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "state", "metier.db");
}

test("every file is its owner's alone, and so is the folder", async () => {
  const file = newFile();
  const store = required(openSqliteStore({ file }));
  const engine = required(openSqliteEngine({ file }));
  await store.journal.create({ id: "r", tenant: "acme", order: {} });
  const folder = join(file, "..");
  const names = readdirSync(folder);
  expect(names).toContain("metier.db-wal");
  for (const name of names) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  await engine.close();
  store.close();
});

test("a reader sees what is committed while the owner goes on, and can change nothing", async () => {
  const file = newFile();
  expect(openSqliteReader({ file })).toMatchObject({
    ok: false,
    refusal: { message: expect.stringContaining(file) },
  });
  const store = required(openSqliteStore({ file }));
  const reader = required(openSqliteReader({ file }));
  await store.journal.create({ id: "r", tenant: "acme", order: { a: 1 } });
  await store.records.put({ tenant: "acme", kind: "agent", id: "a" }, {}, 0);
  expect(await reader.journal.get("r")).toMatchObject({ order: { a: 1 } });
  expect(await reader.records.listAll("agent")).toHaveLength(1);
  expect(Object.keys(reader.journal)).not.toContain("write");
  reader.close();
  store.close();
});

test("what an older version has queued and parked is advanced by this one", async () => {
  const file = newFile();
  const older = required(openDatabase(file, { name: "file", migrations: [] }));
  const backend = BackendSqlite.connect(file, { namespaceId: "metier" });
  const { migrations } = ENGINE_SCHEMA;
  const engineBefore = required(openDatabase(file, { name: "engine", migrations: migrations.slice(0, 2) }));
  older.exec("INSERT INTO engine_queue (run_id, due_at) VALUES ('queued', 0)");
  await backend.createWorkflowRun(newWorkflowRun("parked"));
  await backend.claimWorkflowRun({ workerId: "w", leaseDurationMs: 1000 });
  older.exec("UPDATE workflow_runs SET worker_id = NULL, available_at = '9999-12-31T00:00:00.000Z'");
  await backend.stop();
  engineBefore.close();
  older.close();
  const engine = required(openSqliteEngine({ file }));
  expect(await engine.counts()).toEqual({ queued: 1, parked: 1, running: 0 });
  expect(await engine.queues()).toMatchObject([{ tenant: "default", queued: 1, running: 0 }]);
  await engine.wake("parked");
  const advanced: string[] = [];
  const worker = startWork(engine, {
    advance({ runId, term }) {
      advanced.push(`${runId} ${term}`);
      return ENDED;
    },
  });
  await until(() => advanced.length === 2 && worker.active === 0);
  expect(advanced.toSorted()).toEqual(["parked 2", "queued 1"]);
  await engine.close();
});

test("a damaged database is refused, and so is a claim that is none", async () => {
  const file = newFile();
  const store = required(openSqliteStore({ file }));
  for (let id = 0; id < 200; id += 1) await store.journal.create({ id: `r${id}`, tenant: "acme", order: {} });
  store.close();
  truncateSync(file, 5000);
  const damaged = { ok: false, refusal: { message: expect.stringContaining("damaged") } };
  expect(openSqliteStore({ file })).toMatchObject(damaged);
  const folder = join(file, "..");
  writeFileSync(join(folder, "owner.db"), "Something else, and long enough to be told apart.");
  expect(claimHome(folder)).toMatchObject(damaged);
});

test("a journal whose master key is gone is not opened with a new one", async () => {
  const folder = join(newFile(), "..");
  const place = { folder, environment: {} };
  await required(await openLocal(place)).close();
  await required(await openLocal(place)).close();
  rmSync(join(folder, "master-key.json"));
  expect(await openLocal(place)).toMatchObject({
    ok: false,
    refusal: { message: expect.stringContaining("is missing") },
  });
  expect(readdirSync(folder)).not.toContain("master-key.json");
});

test("a file of a newer Metier is refused, and so is one that is no database", () => {
  const file = newFile();
  required(openSqliteStore({ file })).close();
  const database = new DatabaseSync(file);
  database.exec("INSERT INTO metier_migrations (name, version, at) VALUES ('store', 99, 0)");
  database.close();
  for (const opened of [openSqliteStore({ file }), openSqliteReader({ file })]) {
    expect(opened).toMatchObject({
      ok: false,
      refusal: { message: expect.stringContaining("newer Metier") },
    });
  }
  const other = join(file, "..", "other.db");
  writeFileSync(
    other,
    "this is not a database, though it is longer than a header of one would be\n".repeat(20),
  );
  for (const open of [openSqliteStore, openSqliteReader, openSqliteEngine]) {
    const opened = open({ file: other });
    expect(opened).toMatchObject({
      ok: false,
      refusal: { message: expect.stringContaining("not an SQLite") },
    });
  }
});

test("opening prints nothing", () => {
  const file = newFile();
  const script = `
    const { openSqliteStore, openSqliteEngine } = await import(${JSON.stringify(DOOR)});
    const store = openSqliteStore({ file: ${JSON.stringify(file)} });
    const engine = openSqliteEngine({ file: ${JSON.stringify(file)} });
    await engine.value.close();
    store.value.close();
    process.emitWarning("is wrong");`;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect({ ...child, stderr: child.stderr.replace(/\(node:\d+\) /, "") }).toMatchObject({
    status: 0,
    stdout: "",
  });
  expect(child.stderr).not.toContain("SQLite");
  expect(child.stderr).toContain("is wrong");
});

test("a home belongs to one process, until it is released or the process is gone", async () => {
  const folder = join(newFile(), "..");
  const claim = required(claimHome(folder));
  const refusal = { ok: false, refusal: { hint: expect.stringContaining("--database") } };
  expect(claimHome(folder)).toMatchObject(refusal);
  claim.release();
  const script = `
    const { claimHome } = await import(${JSON.stringify(CLAIM)});
    const claim = claimHome(${JSON.stringify(folder)});
    process.stdout.write(String(claim.ok));
    setInterval(() => claim, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  expect(said.toString()).toBe("true");
  expect(claimHome(folder)).toMatchObject(refusal);
  child.kill("SIGKILL");
  await once(child, "exit");
  required(claimHome(folder)).release();
});

test("a folder is not opened with another master key than it was written with; a new one goes before the old one", async () => {
  const folder = join(newFile(), "..");
  const [one, two] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
  const open = (METIER_MASTER_KEY: string) => openLocal({ folder, environment: { METIER_MASTER_KEY } });
  await required(await open(one)).close();
  const refused = await open(two);
  expect(refused).toMatchObject({
    ok: false,
    refusal: {
      message: expect.stringContaining("is wrong"),
      hint: expect.stringContaining("<new>,<old>"),
    },
  });
  expect(JSON.stringify(refused)).not.toContain(one);
  await required(await open(`${two},${one}`)).close();
  // From then on the folder is held to the new one.
  await required(await open(two)).close();
  expect((await open(one)).ok).toBe(false);
});

test("what cannot be written to the audit log is not done", async () => {
  const file = newFile();
  const store = required(openSqliteStore({ file }));
  const { journal, records } = store;
  await journal.create({ id: "there", tenant: "acme", order: {} });
  const beside = new DatabaseSync(file);
  beside.exec("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no line'); END");
  beside.close();
  const line = { tenant: "acme", actor: "a", action: "b", subject: "c" };
  const key = { tenant: "acme", kind: "agent", id: "a" };
  await expect(records.put(key, {}, 0, line)).rejects.toThrow("no line");
  await expect(journal.create({ id: "new", tenant: "acme", order: {} }, line)).rejects.toThrow("no line");
  await expect(journal.cancel("there", line)).rejects.toThrow("no line");
  expect([await records.get(key), await journal.get("new")]).toEqual([undefined, undefined]);
  expect(await journal.get("there")).toMatchObject({ isCancelled: false });
  store.close();
});
