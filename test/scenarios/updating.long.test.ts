/** Updating installed skills: every state a source can be in, and what becomes of trust and data. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startGitServer } from "../support/git-server.ts";
import { createInstallWorld, resultOf, skillFiles } from "../support/installing.ts";
import { bodyOf, codes, names, updateOf } from "../support/updating.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

describe("update", () => {
  verifies(
    [191, "case 101", "case 107"],
    "takes what the branch has now, keeps what it recorded, and says nothing changed when nothing did",
    async () => {
      const world = createInstallWorld();
      const repository = world.repository(skillFiles("skills/pdf", "pdf", "First."));
      const metier = await world.metier();
      resultOf(await metier.install({ source: repository.url, name: "paper" }));
      const [before] = world.lock().skills;
      const commit = repository.commit(skillFiles("skills/pdf", "pdf", "Second."));

      const result = updateOf(await metier.update());
      expect(names(result)).toEqual(["paper"]);
      const [after] = world.lock().skills;
      expect(after).toEqual({
        ...before,
        resolved: commit,
        digest: result.updated[0]?.to.digest,
        previous: { digest: before?.digest, resolved: before?.resolved },
      });
      expect(await bodyOf(world, "paper")).toContain("Second.");
      expect(metier.get("installed:paper")?.directory).toBe(result.updated[0]?.path);

      const lock = readFileSync(world.places.lockFile, "utf8");
      const again = updateOf(await metier.update());
      expect([names(again), codes(again), again.reviews]).toEqual([[], { paper: "current" }, []]);
      repository.commit({ ...skillFiles("skills/pdf", "pdf", "Second."), "README.md": "Elsewhere." });
      expect(codes(updateOf(await metier.update()))).toEqual({ paper: "current" });
      expect(readFileSync(world.places.lockFile, "utf8")).toBe(lock);
      expect(world.quarantined()).toEqual([]);
    },
  );

  verifies(
    [191, "case 101"],
    "leaves what is pinned, linked, gone or unreachable, and says which",
    async () => {
      const world = createInstallWorld();
      const install = async (source: string, more: object = {}): Promise<void> => {
        resultOf(await (await world.metier()).install({ source, ...more }));
      };
      const at = (name: string): Record<string, string> => skillFiles("", name);
      const byCommit = world.repository(at("by-commit"), "a");
      await install(byCommit.url, { ref: byCommit.git("rev-parse", "HEAD") });
      const byTag = world.repository(at("by-tag"), "b");
      byTag.git("tag", "v1");
      await install(byTag.url, { ref: "v1" });
      const branchGone = world.repository(at("branch-gone"), "c");
      branchGone.git("branch", "feature");
      await install(branchGone.url, { ref: "feature" });
      const repositoryGone = world.repository(at("repository-gone"), "d");
      await install(repositoryGone.url);
      const skillGone = world.repository(at("skill-gone"), "e");
      await install(skillGone.url);
      const broken = world.repository(at("broken"), "f");
      await install(broken.url);
      world.write({ "folders/linked/SKILL.md": skill("linked"), "folders/copied/SKILL.md": skill("copied") });
      await install(join(world.root, "folders/linked"), { link: true });
      await install(join(world.root, "folders/copied"));

      for (const repository of [byCommit, byTag]) repository.commit(at("other"));
      branchGone.git("branch", "--delete", "--force", "feature");
      rmSync(repositoryGone.folder, { recursive: true });
      skillGone.commit({ "README.md": "Nothing here." });
      broken.commit({ "SKILL.md": "---\nname: broken\n---\n" });
      world.write({ "folders/copied/SKILL.md": skill("copied", "", "New.") });

      const metier = await world.metier();
      const outcome = await metier.outdated();
      if (!outcome.ok) throw new Error(outcome.fault.message);
      const states = Object.fromEntries(outcome.skills.map(({ name, status }) => [name, status]));
      expect(states).toEqual({
        "by-commit": "pinned",
        "by-tag": "pinned",
        "branch-gone": "missing",
        "repository-gone": "missing",
        "skill-gone": "missing",
        broken: "failed",
        linked: "local",
        copied: "outdated",
      });
      const result = updateOf(await metier.update());
      expect(names(result)).toEqual(["copied"]);
      expect(codes(result)).toEqual({
        "by-commit": "pinned",
        "by-tag": "pinned",
        "branch-gone": "source.ref_not_found",
        "repository-gone": "source.not_found",
        "skill-gone": "install.no_skill",
        broken: "install.invalid",
        linked: "local",
      });
      expect(world.lock().skills).toHaveLength(8);
    },
  );

  verifies("case 107", "asks servers over HTTP, and one that fails or hangs up stops no other", async () => {
    const world = createInstallWorld();
    const good = world.repository(skillFiles("", "good", "First."), "good");
    world.repository(skillFiles("", "bad"), "bad");
    let isBroken = false;
    const server = await startGitServer(world.root, {
      spoil(request, response) {
        if (!isBroken || !request.url?.startsWith("/bad")) return false;
        response.socket?.destroy();
        return true;
      },
    });
    const metier = await world.metier();
    for (const name of ["good", "bad"]) {
      resultOf(await metier.install({ source: `git+${server.origin}/${name}/.git` }));
    }
    isBroken = true;
    good.commit(skillFiles("", "good", "Second."));
    const result = updateOf(await metier.update());
    expect([names(result), codes(result)]).toEqual([["good"], { bad: "source.unreachable" }]);
    const cli = await world.cli("outdated", "--json");
    const states = cli.json.skills.map(({ name, status }: Record<string, string>) => `${name} ${status}`);
    expect([cli.code, states]).toEqual([5, ["bad failed", "good current"]]);
  });

  test("a tag that was moved is pointed out, and not taken unseen", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "pdf", "First."));
    repository.git("tag", "v1");
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url, ref: "v1" }));
    repository.commit(skillFiles("", "pdf", "Second."));
    repository.git("tag", "--force", "v1");
    const result = updateOf(await metier.update());
    expect(codes(result)).toEqual({ pdf: "install.unreviewed" });
    expect(result.reviews[0]).toMatchObject({ isMovedTag: true, risks: [] });
    expect(names(updateOf(await metier.update({ yes: true })))).toEqual(["pdf"]);
  });

  test("a skill that moved or was renamed at its source is not followed to another one", async () => {
    const world = createInstallWorld();
    const repository = world.repository({ ...skillFiles("a", "one"), ...skillFiles("b", "two") });
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url, skills: ["*"] }));
    repository.commit({ ...skillFiles("c", "one", "New."), ...skillFiles("b", "three") });
    const result = updateOf(await metier.update());
    expect(codes(result)).toEqual({ one: "source.not_found", two: "source.not_found" });
    expect(result.skipped.map(({ reason, hint }) => `${reason} ${hint}`)).toEqual([
      expect.stringContaining("at `c`"),
      expect.stringContaining("another skill at `b`: `three`"),
    ]);
  });

  test("a name that is not installed is a fault that names the nearest one", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "pdf"));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url }));
    expect(await metier.update("pfd")).toEqual({
      ok: false,
      fault: {
        code: "install.not_installed",
        message: "`pfd` is not installed.",
        hint: "Did you mean `pdf`?",
      },
    });
    expect((await world.cli("update", "pfd")).code).toBe(1);
  });
});

describe("trust and data", () => {
  verifies(
    191,
    "a new version is untrusted, its data stays, and a rollback brings the trust back",
    async () => {
      const world = createInstallWorld();
      const repository = world.repository(skillFiles("", "pdf", "First."));
      resultOf(await (await world.metier()).install({ source: repository.url }));
      expect((await world.cli("trust", "pdf")).code).toBe(0);
      const metier = await world.metier({ trust: "grants" });
      const trust = (): string | undefined => metier.get("pdf")?.trust.level;
      expect(trust()).toBe("trusted");
      metier.store("pdf").set("seen", 3);
      repository.commit(skillFiles("", "pdf", "Second."));
      const result = updateOf(await metier.update());
      expect([result.updated[0]?.losesTrust, trust()]).toEqual([true, "untrusted"]);
      expect(await metier.rollback("pdf")).toMatchObject({ ok: true, name: "pdf" });
      expect([trust(), metier.store("pdf").get("seen")]).toEqual(["trusted", 3]);
      expect(await metier.rollback("pdf")).toMatchObject({ ok: true });
      expect([trust(), await bodyOf(world, "pdf")]).toEqual([
        "untrusted",
        expect.stringContaining("Second."),
      ]);
    },
  );

  test("in a terminal the new version may be trusted right away", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "pdf", "First."));
    resultOf(await (await world.metier()).install({ source: repository.url }));
    await world.cli("trust", "pdf");
    repository.commit(skillFiles("", "pdf", "Second."));
    const updated = await world.cliAnswering(["t", "y"], "update");
    expect(updated.stdout).toContain("You trust the installed version");
    expect((await world.metier({ trust: "grants" })).get("pdf")?.trust.level).toBe("trusted");
  });
});
