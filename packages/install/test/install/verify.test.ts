import { chmodSync, cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { storeFolder } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import {
  createInstallWorld,
  type InstallWorld,
  resultOf,
  skillFiles,
} from "../../../../test/support/installing.ts";

interface Installed {
  readonly world: InstallWorld;
  /** In the store. */
  readonly folder: string;
}

const FILES = { ...skillFiles("", "pdf"), "notes.md": "Notes.\n", "run.sh": "echo hi\n" };

async function installed(more: object = {}): Promise<Installed> {
  const world = createInstallWorld();
  const repository = world.repository(FILES);
  const metier = await world.metier();
  resultOf(await metier.install({ source: repository.url, ...more }));
  rmSync(repository.folder, { recursive: true }); // Verifying asks no source.
  const [entry] = [...world.lock("user").skills, ...world.lock("project").skills];
  if (entry === undefined) throw new Error("Nothing is installed.");
  return { world, folder: storeFolder(world.places, entry) };
}

describe("verify", () => {
  test("agrees with what is as it was installed, offline and without changing anything", async () => {
    const { world } = await installed();
    const { code, json } = await world.cli("verify", "--json");
    expect(code).toBe(0);
    expect(json).toMatchObject({ ok: true, skills: [{ name: "pdf", ok: true, changes: [] }], grants: [] });
  });

  test("names every file that differs from the lock", async () => {
    const { world, folder } = await installed();
    writeFileSync(join(folder, "notes.md"), "Other notes.\n");
    writeFileSync(join(folder, "extra.md"), "");
    chmodSync(join(folder, "run.sh"), 0o755);
    rmSync(join(folder, "SKILL.md"));
    const { code, json } = await world.cli("verify", "pdf", "--json");
    expect([code, json.ok, json.skills[0].ok]).toEqual([1, false, false]);
    expect(json.skills[0].changes).toEqual([
      { path: "SKILL.md", change: "removed" },
      { path: "extra.md", change: "added" },
      { path: "notes.md", change: "changed" },
      { path: "run.sh", change: "mode" },
    ]);
    const text = await world.cli("verify");
    expect([text.code, text.stdout]).toEqual([1, expect.stringMatching(/changed\s+notes\.md/)]);
  });

  test("names the files also where the list of them was lost, if another copy is whole", async () => {
    const { world } = await installed({ project: true, copy: true });
    rmSync(join(world.places.state, "contents"), { recursive: true });
    const copy = join(world.project, ".metier/skills/pdf");
    writeFileSync(join(copy, "notes.md"), "Other notes.\n");
    const metier = await world.metier();
    const changes = [{ path: "notes.md", change: "changed" }];
    expect(await metier.verify()).toMatchObject({ ok: false, skills: [{ folder: copy, changes }] });
  });

  test("does not believe a list of files that was changed", async () => {
    const { world, folder } = await installed();
    const [entry] = world.lock().skills;
    const list = join(world.places.state, "contents", `${entry?.digest.slice("sha256:".length)}.json`);
    writeFileSync(list, "[]");
    writeFileSync(join(folder, "notes.md"), "Other notes.\n");
    const metier = await world.metier();
    expect((await metier.verify()).skills[0]?.changes).toEqual([{ path: ".", change: "changed" }]);
  });

  test("says what is missing, is no folder, or cannot be read", async () => {
    const { world, folder } = await installed();
    const metier = await world.metier();
    symlinkSync("/dev/null", join(folder, "link"));
    expect((await metier.verify("pdf")).skills[0]?.changes).toEqual([{ path: "link", change: "added" }]);
    rmSync(folder, { recursive: true });
    const [missing] = (await metier.verify("pdf")).skills;
    expect(missing?.changes.map(({ path, change }) => `${path} ${change}`)).toEqual([
      "SKILL.md removed",
      "notes.md removed",
      "run.sh removed",
    ]);
    writeFileSync(folder, "");
    expect((await metier.verify("pdf")).skills[0]).toMatchObject({ ok: false, note: "It is not a folder." });
  });

  test("looks at copies and links for other clients", async () => {
    const { world } = await installed({ agents: ["claude-code", "agent-harness"] });
    const metier = await world.metier();
    expect((await metier.verify()).skills[0]?.copies).toMatchObject([{ ok: true }, { ok: true }]);
    writeFileSync(join(world.home, ".agent/skills/pdf/notes.md"), "Other notes.\n");
    const link = join(world.home, ".claude/skills/pdf");
    rmSync(link);
    const report = await metier.verify();
    expect(report.ok).toBe(false);
    expect(report.skills[0]).toMatchObject({ ok: false, changes: [] });
    const copies = report.skills[0]?.copies.map(({ client, changes }) => [client, changes]);
    expect(Object.fromEntries(copies ?? [])).toEqual({
      "agent-harness": [{ path: "notes.md", change: "changed" }],
      "claude-code": [{ path: ".", change: "removed" }],
    });
    mkdirSync(link);
    expect((await metier.verify()).skills[0]?.copies).toContainEqual(
      expect.objectContaining({ client: "claude-code", ok: false, note: "It is not what Metier put there." }),
    );
  });

  test("a copy that a checkout brings along stands in for the store, but no link into it", async () => {
    const copied = await installed({ agents: ["agent-harness"] });
    rmSync(copied.folder, { recursive: true });
    expect(await (await copied.world.metier()).verify()).toMatchObject({
      ok: true,
      skills: [{ note: "A copy takes its place." }],
    });
    const linked = await installed({ agents: ["claude-code"] });
    rmSync(linked.folder, { recursive: true });
    expect((await (await linked.world.metier()).verify()).ok).toBe(false);
  });

  test("a linked folder may change, and is missed only when it is gone", async () => {
    const world = createInstallWorld();
    const source = join(world.root, "mine");
    world.write({ "mine/SKILL.md": skillFiles("", "pdf")["SKILL.md"] ?? "" });
    const metier = await world.metier();
    resultOf(await metier.install({ source, link: true }));
    world.write({ "mine/new.md": "New.\n" });
    expect(await metier.verify()).toMatchObject({
      ok: true,
      skills: [{ ok: true, changes: [{ path: "new.md", change: "added" }] }],
    });
    renameSync(source, `${source}-gone`);
    expect((await metier.verify()).ok).toBe(false);
  });

  test("notices when a skill is no longer what was trusted", async () => {
    const world = createInstallWorld();
    world.write({ "custom/deploy/SKILL.md": skillFiles("", "deploy")["SKILL.md"] ?? "" });
    const folder = join(world.root, "custom/deploy");
    expect((await world.cli("trust", "deploy", "--path", folder)).code).toBe(0);
    const held = await world.cli("verify", "--json");
    expect([held.code, held.json.grants]).toEqual([
      0,
      [expect.objectContaining({ name: "deploy", state: "holds" })],
    ]);
    world.write({ "custom/deploy/more.sh": "echo\n" });
    const broken = await world.cli("verify", "--json");
    expect([broken.code, broken.json.ok]).toEqual([1, false]);
    expect(broken.json.grants).toMatchObject([
      { state: "changed", changes: [{ path: "more.sh", change: "added" }] },
    ]);
    expect((await world.cli("verify")).stdout).toContain("no longer what you trusted");
    rmSync(folder, { recursive: true });
    expect((await world.cli("verify", "--json")).json).toMatchObject({
      ok: true,
      grants: [{ state: "missing" }],
    });
  });

  test("a lock that cannot be read is a fault, and so is a name that nobody installed", async () => {
    const { world } = await installed();
    expect(await (await world.metier()).verify("nothing")).toMatchObject({
      ok: false,
      fault: { code: "install.not_installed" },
    });
    writeFileSync(world.places.lockFile, "version = [");
    expect((await world.cli("verify", "--json")).json).toMatchObject({ error: { code: "install.lock" } });
  });

  test("a copy that an interrupted update left behind is told as such", async () => {
    const world = createInstallWorld();
    const repository = world.repository(FILES);
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url, project: true, copy: true }));
    const copy = join(world.project, ".metier/skills/pdf");
    const old = join(world.root, "old");
    cpSync(copy, old, { recursive: true });
    repository.commit({ ...FILES, "notes.md": "New notes.\n" });
    expect(await metier.update()).toMatchObject({ ok: true, updated: [{ name: "pdf" }] });
    rmSync(copy, { recursive: true });
    cpSync(old, copy, { recursive: true });
    expect((await metier.verify()).skills[0]?.note).toContain("the version before the last update");
    resultOf(await metier.install({ force: true }));
    expect((await metier.verify()).ok).toBe(true);
  });
});
