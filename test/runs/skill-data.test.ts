/** What a skill keeps over its runs: its data folder and its store, for each user apart. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { createScriptWorld } from "../support/script-world.ts";
import { calls, createRunWorld, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

describeSandbox("what a skill keeps", () => {
  const STORE = {
    "put.sh": 'metier-sb store set "$1" "$2"',
    "get.sh": 'metier-sb store get "$1"',
    "list.sh": "metier-sb store list",
    "share.sh": 'metier-sb store get --global "$1"; metier-sb store set --global x 1',
    "file.sh": 'echo data > "$METIER_DATA_DIR/file.txt"; ls "$METIER_DATA_DIR"',
    "look.sh": 'ls "$METIER_DATA_DIR/.."; cat "$METIER_DATA_DIR"/../*/*',
  };
  const as = (userId: string) => ({ caller: { userId } });

  verifies("case 110", "is there in the next run, for the same user alone, and for the program", async () => {
    const world = createScriptWorld({ demo: STORE });
    const metier = await world.metier();
    const run = (script: string, user: object, ...args: string[]) =>
      metier.script({ skill: "demo", script, args, ...user });
    await run("put.sh", as("ann"), "mood", '{"of": "ann"}');
    await run("put.sh", as("bob"), "mood", "plain words");
    await run("put.sh", {}, "mood", "1");
    expect((await run("get.sh", as("ann"), "mood")).json).toEqual({ of: "ann" });
    expect((await run("get.sh", as("bob"), "mood")).stdout).toBe('"plain words"\n');
    expect((await run("list.sh", {})).json).toEqual({ mood: 1 });
    expect(await run("get.sh", as("Ann"), "mood")).toMatchObject({ exitCode: 1, stdout: "" });

    expect(metier.store("demo", { user: "ann" }).get("mood")).toEqual({ of: "ann" });
    expect(metier.store("demo").all()).toEqual({ mood: 1 });
    metier.store("demo", { user: "bob" }).clear();
    expect(await run("get.sh", as("bob"), "mood")).toMatchObject({ exitCode: 1 });
    expect(metier.store("demo", { user: "ann" }).get("mood")).toEqual({ of: "ann" });
  });

  verifies("case 110", "is read by all users where it is global, and changed by none", async () => {
    const world = createScriptWorld({ demo: STORE });
    const metier = await world.metier();
    metier.store("demo", { global: true }).set("motd", "hello all");
    for (const user of [as("ann"), {}]) {
      const { stdout, exitCode } = await metier.script({
        skill: "demo",
        script: "share.sh",
        args: ["motd"],
        ...user,
      });
      expect([stdout, exitCode]).toEqual(['"hello all"\n', 2]);
    }
    expect(metier.store("demo", { global: true }).all()).toEqual({ motd: "hello all" });
    expect(metier.store("demo").all()).toEqual({});
  });

  test("is out of sight for other users of the skill", async () => {
    const world = createScriptWorld({ demo: STORE });
    const metier = await world.metier();
    await metier.script({ skill: "demo", script: "file.sh", ...as("ann") });
    const { stdout } = await metier.script({ skill: "demo", script: "look.sh", ...as("bob") });
    expect(stdout.split("\n").filter(Boolean)).toEqual(["global", "user-bob"]);
  });

  test("is not what an untrusted or a project's skill of the same name sees", async () => {
    const world = createScriptWorld({ demo: STORE });
    world.write({
      "other/demo/SKILL.md": skill("demo"),
      "other/demo/list.sh": STORE["list.sh"],
      "other/demo/put.sh": STORE["put.sh"],
      "project/.metier/skills/demo/SKILL.md": skill("demo"),
      "project/.metier/skills/demo/list.sh": STORE["list.sh"],
    });
    const mine = await world.metier({ cwd: world.root });
    await mine.script({ skill: "demo", script: "put.sh", args: ["a", "1"] });
    const theirs = await world.metier({ cwd: world.root, paths: [join(world.root, "other")], index: false });
    const list = async (metier: typeof mine, name: string): Promise<unknown> => {
      const result = await metier.script({ skill: name, script: "list.sh" });
      return [result.trust, result.json ?? result.error ?? result.refusal];
    };
    expect(await list(theirs, "custom:demo")).toEqual(["untrusted", {}]);
    await theirs.script({ skill: "custom:demo", script: "put.sh", args: ["a", '"theirs"'] });
    expect(await list(mine, "demo")).toEqual(["trusted", { a: 1 }]);
    const project = await world.metier();
    expect(await list(project, "project:demo")).toEqual(["trusted", {}]);
  });

  test("is there when the skill comes back after it was removed", async () => {
    const world = createScriptWorld({ demo: STORE });
    const metier = await world.metier();
    await metier.script({ skill: "demo", script: "put.sh", args: ["a", "1"] });
    rmSync(join(world.home, ".metier/skills/demo"), { recursive: true });
    await metier.reload();
    expect(() => metier.store("demo")).toThrow("`demo` was not found");
    world.write({ "home/.metier/skills/demo/SKILL.md": skill("demo") });
    await metier.reload();
    expect(metier.store("demo").get("a")).toBe(1);
  });

  test("can be reached by the tools of a run", async () => {
    const world = createScriptWorld({ demo: {} });
    const { run } = await openRuns(world, [
      calls("bash", { command: 'metier-sb store set seen true; echo x > "$METIER_DATA_DIR/notes.txt"' }),
      says("Done."),
      calls("bash", { command: 'metier-sb store get seen; cat "$METIER_DATA_DIR/notes.txt"' }),
      says("Done.", { toolResult: "true\nx" }),
    ]);
    await run({ skill: "demo", approve: "all", ...as("ann") });
    expect((await run({ skill: "demo", approve: "all", ...as("ann") })).result.status).toBe("completed");
  });
});

describe("the store without a sandbox", () => {
  test("says what it does not take, as a fault of the program", async () => {
    const metier = await createRunWorld({ demo: [] }).metier();
    const store = metier.store("demo", { user: "ann" });
    expect(() => store.set("", 1)).toThrow("A key must be a non-empty string");
    expect(() => store.set("a", "x".repeat(300_000))).toThrow("the limit is 262144 bytes");
    expect(() => metier.store("demo", { user: "ann", global: true })).toThrow("not both");
    expect(() => metier.store("none")).toThrow("`none` was not found");
  });

  verifies("case 110", "reports a value that cannot be read", async () => {
    const world = createRunWorld({ demo: [] });
    const store = (await world.metier()).store("demo", { user: "ann" });
    store.set("mood", "good");
    world.write({ "home/.metier/data/demo/user-ann/mood.store.json": "not JSON" });
    expect(store.get("mood")).toBeUndefined();
    expect(store.diagnostics).toMatchObject([
      { code: "store.corrupt", hint: expect.stringContaining(".corrupt") },
    ]);
  });
});
