/** Changes that are asked for at the same time, in one transaction of SQLite. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../src/sqlite/open-database.ts";
import { openSqliteEngine, openSqliteReader, openSqliteStore } from "../src/sqlite.ts";
import { required } from "./support/sqlite.ts";

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "metier-group-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "metier.db");
}

const SCHEMA = { name: "test", migrations: ["CREATE TABLE notes (text TEXT NOT NULL UNIQUE)"] };

test("changes that come together are committed together, and each is answered with what it gave", async () => {
  const database = required(openDatabase(newFile(), SCHEMA));
  onTestFinished(() => database.close());
  const note = database.statement("INSERT INTO notes (text) VALUES (?)");
  const changes = (): number =>
    Number(database.statement("SELECT total_changes() AS count").get()?.count ?? Number.NaN);
  const before = changes();
  const answers = ["a", "b", "c"].map((text) =>
    database.keep(() => {
      note.run(text);
      return `noted ${text}`;
    }),
  );
  expect(changes()).toBe(before); // Nothing is done before its turn.
  expect(await Promise.all(answers)).toEqual(["noted a", "noted b", "noted c"]);
});

test("a change that fails undoes what it did, and nothing of the others", async () => {
  const database = required(openDatabase(newFile(), SCHEMA));
  onTestFinished(() => database.close());
  const note = database.statement("INSERT INTO notes (text) VALUES (?)");
  const all = await Promise.allSettled([
    database.change(() => note.run("a")),
    database.keep(() => {
      note.run("b");
      note.run("a");
    }),
    database.change(() => note.run("c")),
  ]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(
    database
      .statement("SELECT text FROM notes ORDER BY text")
      .all()
      .map(({ text }) => text),
  ).toEqual(["a", "c"]);
});

test("who closes a file loses nothing that was asked for, and closes it for nobody else", async () => {
  const file = newFile();
  const [first, second] = [required(openSqliteStore({ file })), required(openSqliteStore({ file }))];
  const engine = required(openSqliteEngine({ file }));
  const created = second.journal.create({ id: "r1", tenant: "acme", order: {} });
  first.close();
  first.close();
  await engine.close();
  expect(await created).toBe("created");
  void second.journal.create({ id: "r2", tenant: "acme", order: {} });
  second.close();
  const reader = required(openSqliteReader({ file }));
  expect(await reader.journal.get("r2")).toBeDefined();
  reader.close();
});
