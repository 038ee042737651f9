/** What `metier serve` and `metier worker` refuse before they open anything that many share. */
import { expect, test } from "vitest";
import { describeWithPostgres, newDatabase } from "../../../test/support/postgres.ts";
import { describeSandbox } from "../../../test/support/sandbox.ts";
import { createWorld } from "../../../test/support/world.ts";

const DATABASE = ["--database", "postgres://metier@127.0.0.1:1/none"];
const STORE = ["--object-store", "file:///nowhere"];

test.each([
  ["worker", [], "A worker needs a database"],
  ["worker", DATABASE, "no object store"],
  ["worker", STORE, "no database to share"],
  ["worker", [...DATABASE, ...STORE, "--slots", "0"], "`--slots 0` is not a number from 1 to 1000"],
  ["worker", ["--database", "mysql://db/x", ...STORE], "not the address of a Postgres database"],
  ["serve", DATABASE, "no object store"],
  ["serve", STORE, "no database to share"],
  ["serve", ["--slots", "0"], "leaves nothing to advance runs"],
  ["serve", ["--migrate"], "`--migrate` needs a database"],
  ["serve", [...DATABASE, ...STORE, "--migrate"], "the role that owns its tables"],
  ["serve", ["--import"], "`--import` needs a database"],
])("`metier %s` with %j is refused with the reason", async (command, flags, message) => {
  const { code, stderr } = await createWorld().cli(command, ...flags);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});

test.each(["METIER_DATABASE_URL", "METIER_OBJECT_STORE"])("an empty %s is a mistake", async (name) => {
  const { code, stderr } = await createWorld({ environment: { [name]: "" } }).cli("serve");
  expect(stderr).toContain(`\`${name}\` is empty`);
  expect(code).toBe(2);
});

describeWithPostgres("bringing a database up to date", () => {
  test("`metier serve --migrate` does it once and for all, and ends", async () => {
    const { url, adminUrl } = await newDatabase();
    const world = createWorld({ environment: { METIER_DATABASE_ADMIN_URL: adminUrl } });
    const first = await world.cli("serve", "--database", url, ...STORE, "--migrate");
    expect(first).toMatchObject({ code: 0, stdout: "The database is up to date.\n" });
    const second = await world.cli("serve", "--database", url, ...STORE, "--migrate", "--json");
    expect(second.code).toBe(0);
    expect(JSON.parse(second.stdout)).toEqual({ migrated: true });
  });
});

describeSandbox("what many share", () => {
  test.each(["serve", "worker"])("`metier %s` refuses without a master key", async (command) => {
    const { code, stderr } = await createWorld().cli(command, ...DATABASE, ...STORE);
    expect(stderr).toContain("METIER_MASTER_KEY");
    expect(code).toBe(6);
  });
});
