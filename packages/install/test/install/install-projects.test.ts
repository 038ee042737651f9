import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createInstallWorld, faultOf, resultOf, skillFiles } from "../../../../test/support/installing.ts";
import { startSite } from "../../../../test/support/loopback-site.ts";

describe("copies in a project", () => {
  test("have the modes of any file that is made there, since git and other tools read them", async () => {
    const world = createInstallWorld();
    const source = join(world.root, "source");
    world.write({ ...prefix("source", skillFiles("", "alpha")), "source/scripts/go.sh": "#!/bin/sh\n" });
    chmodSync(join(source, "scripts/go.sh"), 0o700);
    chmodSync(join(source, "SKILL.md"), 0o600);
    const metier = await world.metier();
    resultOf(await metier.install({ source, project: true, copy: true, agents: ["claude-code"] }));
    const closed = process.umask();
    for (const folder of [".metier/skills/alpha", ".claude/skills/alpha"]) {
      const modeOf = (path: string): number => lstatSync(join(world.project, folder, path)).mode & 0o777;
      expect([modeOf("."), modeOf("scripts"), modeOf("scripts/go.sh"), modeOf("SKILL.md")]).toEqual(
        [0o777, 0o777, 0o777, 0o666].map((mode) => mode & ~closed),
      );
    }
    expect((await metier.verify()).ok).toBe(true);
  });

  test("that are links into the user's own store are warned of, copies and linked folders are not", async () => {
    const world = createInstallWorld();
    const repository = world.repository({ ...skillFiles("a", "alpha"), ...skillFiles("b", "beta") });
    const metier = await world.metier();
    const request = { source: repository.url, skills: ["*"], project: true, agents: ["claude-code"] };
    const { diagnostics } = resultOf(await metier.install(request));
    expect(diagnostics).toMatchObject([
      { code: "install.links-into-home", severity: "warning", hint: expect.stringContaining("--copy") },
    ]);
    expect(diagnostics[0]?.message).toContain("and 1 more");
    expect(resultOf(await metier.install({ ...request, copy: true })).diagnostics).toEqual([]);
    const mine = resultOf(await metier.install({ source: repository.url, skills: ["*"], agents: ["codex"] }));
    expect(mine.diagnostics).toEqual([]);
  });
});

describe("removing the last skill", () => {
  test("leaves neither an empty lock nor empty folders that were made for it", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    const request = { source: repository.url, agents: ["claude-code", "codex"], copy: true };
    resultOf(await metier.install({ ...request, project: true }));
    resultOf(await metier.install(request));
    mkdirSync(join(world.home, ".claude/commands"));
    expect(await metier.remove("alpha", { project: true })).toMatchObject({ ok: true, diagnostics: [] });
    expect(await metier.remove("alpha")).toMatchObject({ ok: true, diagnostics: [] });
    for (const path of ["metier.lock", ".metier", ".claude", ".agents"])
      expect(existsSync(join(world.project, path)), path).toBe(false);
    expect(existsSync(world.places.lockFile)).toBe(false);
    expect(existsSync(join(world.home, ".agents"))).toBe(false);
    expect(existsSync(join(world.home, ".claude/skills"))).toBe(false);
    expect(existsSync(join(world.home, ".claude/commands"))).toBe(true);
  });
});

describe("a project's lock", () => {
  test.skipIf(process.getuid?.() !== 0)(
    "that belongs to another user is refused by every command (only root can make one)",
    async () => {
      const world = createInstallWorld();
      const repository = world.repository(skillFiles("", "alpha"));
      const metier = await world.metier();
      resultOf(await metier.install({ source: repository.url, project: true }));
      chownSync(join(world.project, "metier.lock"), 12_345, 12_345);
      const refused = { code: "install.lock", message: expect.stringContaining("belongs to another user") };
      expect(faultOf(await metier.install({}))).toMatchObject(refused);
      expect(faultOf(await metier.install({ source: repository.url, project: true }))).toMatchObject(refused);
      for (const outcome of [
        await metier.update({ project: true }),
        await metier.outdated({ project: true }),
        await metier.remove("alpha", { project: true }),
        await metier.verify({ project: true }),
      ])
        expect(outcome).toMatchObject({ ok: false, fault: refused });
      await metier.reload();
      expect(metier.get("alpha")).toBeUndefined();
      expect(metier.diagnostics()).toContainEqual(expect.objectContaining({ code: "lock.foreign-owner" }));
    },
  );

  test("that points outside the project is an error, also for the exit code", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const flags = ["--project", "--copy", "--agent", "claude-code"];
    expect((await world.cli("install", repository.url, ...flags)).code).toBe(0);
    rmSync(join(world.project, ".claude"), { recursive: true });
    mkdirSync(join(world.root, "victim/skills"), { recursive: true });
    symlinkSync(join(world.root, "victim"), join(world.project, ".claude"));
    const { code, stderr } = await world.cli("install", "--project");
    expect(stderr).toContain("is not a client's skills folder in the project");
    expect(code).toBe(1);
  });

  test("is named beside each skill, since another may list it as well", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    await world.cli("install", repository.url, "--project");
    await world.cli("install", repository.url);
    const verified = await world.cli("verify");
    expect(verified.stdout).toContain("alpha (your lock)");
    expect(verified.stdout).toContain("alpha (the project's lock)");
    const restored = await world.cli("install", "--json");
    expect(restored.json.skipped.map(({ lock }: { lock: string }) => lock)).toEqual(["user", "project"]);
  });
});

describe("a source", () => {
  test("that reads as GitHub's, but is a file here, is hinted at when it cannot be had", async () => {
    const world = createInstallWorld();
    world.write(prefix("project/repo/skills/x", skillFiles("", "x")));
    const metier = await world.metier({ environment: { PATH: join(world.root, "no-programs") } });
    const { hint } = faultOf(await metier.install({ source: "repo/skills/x/SKILL.md" }));
    expect(hint).toContain("`./repo/skills/x/SKILL.md`");
    expect(faultOf(await metier.install({ source: "other/skills/x" })).hint).not.toContain("./other");
  });

  test("of npm comes from the registry that the config names", async () => {
    const site = await startSite((_, response) => void response.writeHead(404).end());
    const world = createInstallWorld();
    const registry = `http://127.0.0.1:${site.port}/`;
    world.write({ "home/.metier/config.toml": `[environments]\nnode-registry = "${registry}"\n` });
    const metier = await world.metier();
    expect(faultOf(await metier.install({ source: "npm:some-skills" })).code).toBe("source.not_found");
    expect(site.requests).toEqual(["/some-skills"]);
  });

  test("of another origin gets none of the data of the untrusted skill it replaces", async () => {
    const world = createInstallWorld();
    const first = world.repository(skillFiles("", "alpha"), "first");
    const second = world.repository(skillFiles("", "alpha", "Other."), "second");
    const metier = await world.metier();
    resultOf(await metier.install({ source: first.url }));
    metier.store("alpha").set("key", 1);
    first.commit(skillFiles("", "alpha", "Newer."));
    await metier.update({ yes: true });
    expect(metier.store("alpha").all()).toEqual({ key: 1 });
    resultOf(await metier.install({ source: second.url, force: true }));
    expect(metier.store("alpha").all()).toEqual({});
  });
});

function prefix(folder: string, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}
