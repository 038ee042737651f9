/** Updating installed skills: every state a source can be in, the review, and what was changed by hand. */
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { UpdateOutcome, UpdateResult, UpdateReview } from "../../src/install/update-request.ts";
import { storeFolder } from "../../src/lock/lock-places.ts";
import { startGitServer } from "../support/git-server.ts";
import {
  createInstallWorld,
  type InstallWorld,
  readText,
  resultOf,
  STEALING,
  skillFiles,
} from "../support/installing.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

function updateOf(outcome: UpdateOutcome): UpdateResult {
  if (!outcome.ok) throw new Error(`${outcome.fault.code}: ${outcome.fault.message}`);
  return outcome;
}

const codes = ({ skipped }: UpdateResult): Record<string, string> =>
  Object.fromEntries(skipped.map(({ name, code }) => [name, code]));
const names = ({ updated }: UpdateResult): readonly string[] => updated.map(({ name }) => name);

/** The text of an installed skill, as the catalog reads it. */
async function bodyOf(world: InstallWorld, name: string): Promise<string> {
  const metier = await world.metier();
  return readText(metier.require(`installed:${name}`).location);
}

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
        updatedAt: expect.any(String),
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
      expect.stringContaining("another skill, `three`"),
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

describe("the review of an update", () => {
  const OLD = {
    "SKILL.md": skill(
      "pdf",
      "allowed-tools: Read\ndisallowed-tools: Bash",
      "Read it. See https://docs.example/a.",
    ),
    "run.sh": "#!/bin/sh\necho old\n",
    "notes.txt": "one\ntwo\n",
  };
  const NEW = {
    "SKILL.md": skill(
      "pdf",
      "version: 2.0.0\nallowed-tools: Read Write\nenv: [API_KEY]\nsandbox:\n  network: [api.example]\n  write: [out]",
      "Read it. See https://docs.example/a and https://new.example/b.",
    ),
    "run.sh": "#!/bin/sh\necho new\n",
    "extra.py": "print('hi')\n",
    "blob.dat": Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2]),
  };

  async function reviewed(): Promise<{ world: InstallWorld; review: UpdateReview }> {
    const world = createInstallWorld();
    const repository = world.repository(OLD);
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url }));
    repository.commit(NEW);
    const [review] = updateOf(await metier.update({ dryRun: true })).reviews;
    if (review === undefined) throw new Error("There is no review.");
    return { world, review };
  }

  verifies(191, "names the files that changed, with their lines, and shows a diff", async () => {
    const { world, review } = await reviewed();
    expect(review.upstream).toEqual([
      { path: "SKILL.md", change: "changed", added: 7, removed: 3 },
      { path: "blob.dat", change: "added" },
      { path: "extra.py", change: "added", added: 1, removed: 0 },
      { path: "notes.txt", change: "removed", added: 0, removed: 2 },
      { path: "run.sh", change: "changed", added: 1, removed: 1 },
    ]);
    expect(review.diff).toContain(
      "--- run.sh\n+++ run.sh\n@@ -1,2 +1,2 @@\n #!/bin/sh\n-echo old\n+echo new",
    );
    expect(review.diff).toContain("--- notes.txt\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two");
    expect(review.to).toMatchObject({ version: "2.0.0" });
    expect(world.stored()).toHaveLength(1);
  });

  verifies(191, "names everything that is new in risk", async () => {
    const { review } = await reviewed();
    expect(review.risks.map(({ kind, what, change }) => `${kind} ${what} ${change}`)).toEqual([
      "script extra.py added",
      "script run.sh changed",
      "binary blob.dat added",
      "tool Write added",
      "tool disallowed-tools: Bash lifted",
      "env API_KEY added",
      "network api.example added",
      "url https://new.example/b added",
      "write out added",
    ]);
  });

  test("counts only findings that are new, and what the scan blocks is never taken", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "pdf"));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url }));
    repository.commit({ ...skillFiles("", "pdf"), "steal.sh": STEALING });
    const decide = async (): Promise<"take"> => "take";
    const result = updateOf(await metier.update({ yes: true, force: true }, { decide }));
    expect([names(result), codes(result)]).toEqual([[], { pdf: "install.blocked" }]);
    expect(result.reviews[0]?.newFindings.map(({ path }) => path)).toContain("steal.sh");
    expect((await world.cli("update", "--yes")).code).toBe(1);
  });

  test("an executable bit alone is a change and a risk", async () => {
    const world = createInstallWorld();
    const repository = world.repository({ ...skillFiles("", "pdf"), "data.txt": "x\n" });
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url }));
    chmodSync(join(repository.folder, "data.txt"), 0o755);
    repository.git("commit", "--all", "--quiet", "--message", "mode");
    const [review] = updateOf(await metier.update({ dryRun: true })).reviews;
    expect(review?.upstream).toEqual([{ path: "data.txt", change: "mode" }]);
    expect(review?.risks).toEqual([expect.objectContaining({ what: "data.txt" })]);
  });

  test("keep leaves one as it is, take takes another, abort leaves all of them", async () => {
    const world = createInstallWorld();
    const both = (body: string): Record<string, string> => ({
      ...skillFiles("a", "one", body),
      ...skillFiles("b", "two", body),
    });
    const repository = world.repository(both("First."));
    resultOf(await (await world.metier()).install({ source: repository.url, skills: ["*"] }));
    repository.commit(both("Second."));
    const aborted = await world.cliAnswering(["take", "a"], "update");
    expect([aborted.code, await bodyOf(world, "one")]).toEqual([130, expect.stringContaining("First.")]);
    const answered = await world.cliAnswering(["k", "nonsense", "d", ""], "update");
    expect(answered.code).toBe(0);
    expect(answered.stdout).toContain("  | +Second.");
    expect(await bodyOf(world, "one")).toContain("First.");
    expect(await bodyOf(world, "two")).toContain("Second.");
  });

  test("without a terminal, what is new in risk waits for someone, and `--yes` is one", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "pdf"));
    resultOf(await (await world.metier()).install({ source: repository.url }));
    repository.commit({ ...skillFiles("", "pdf"), "run.sh": "echo hi\n" });
    const waiting = await world.cli("update");
    expect([waiting.code, waiting.stderr]).toEqual([3, expect.stringContaining("`script run.sh`")]);
    const dry = await world.cli("update", "--dry-run", "--json");
    expect([dry.code, dry.json.updated[0].name, world.stored().length]).toEqual([0, "pdf", 1]);
    const taken = await world.cli("skill", "manage", "update", "pdf", "--yes", "--json");
    expect([taken.code, taken.json.updated[0].name]).toEqual([0, "pdf"]);
  });
});

describe("what was changed by hand", () => {
  async function edited(): Promise<{ world: InstallWorld; copy: string }> {
    const world = createInstallWorld();
    const files = (body: string): Record<string, string> => ({
      ...skillFiles("", "pdf", body),
      "notes.md": body,
    });
    const repository = world.repository(files("First."));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url, project: true, copy: true }));
    const copy = join(world.project, ".metier/skills/pdf");
    writeFileSync(join(copy, "SKILL.md"), skill("pdf", "", "Mine."));
    writeFileSync(join(copy, "own.txt"), "mine\n");
    repository.commit(files("Second."));
    return { world, copy };
  }

  verifies(191, "is told apart from what the source changed, with the files that both changed", async () => {
    const { world, copy } = await edited();
    const metier = await world.metier();
    const result = updateOf(await metier.update({ yes: true }));
    expect([names(result), codes(result)]).toEqual([[], { pdf: "install.conflict" }]);
    expect(result.reviews[0]).toMatchObject({
      lock: "project",
      upstream: [{ path: "SKILL.md" }, { path: "notes.md" }],
      local: [
        {
          folder: copy,
          files: [
            { path: "SKILL.md", change: "changed" },
            { path: "own.txt", change: "added" },
          ],
        },
      ],
      conflicts: ["SKILL.md"],
    });
    expect(readText(copy, "SKILL.md")).toContain("Mine.");
  });

  test("is kept when someone keeps it, and put aside when the new version is taken", async () => {
    const { world, copy } = await edited();
    const kept = await world.cliAnswering([""], "update");
    expect([kept.code, readText(copy, "SKILL.md")]).toEqual([0, expect.stringContaining("Mine.")]);
    const metier = await world.metier();
    const result = updateOf(await metier.update("pdf", { decide: async () => "take" }));
    expect(readText(copy, "SKILL.md")).toContain("Second.");
    expect(existsSync(join(copy, "own.txt"))).toBe(false);
    const [aside = ""] = result.updated[0]?.kept ?? [];
    expect(readText(aside, "SKILL.md")).toContain("Mine.");
    expect(readText(aside, "own.txt")).toBe("mine\n");
    expect((await metier.verify()).ok).toBe(true);
  });

  test("is also seen in the store, and a copy of another client follows the update", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "pdf", "First."));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url, agents: ["claude-code", "agent-harness"] }));
    const link = join(world.home, ".claude/skills/pdf");
    const copy = join(world.home, ".agent/skills/pdf");
    const [entry] = world.lock().skills;
    if (entry === undefined) throw new Error("Nothing is installed.");
    writeFileSync(join(storeFolder(world.places, entry), "SKILL.md"), skill("pdf", "", "Mine."));
    repository.commit(skillFiles("", "pdf", "Second."));
    expect(codes(updateOf(await metier.update({ yes: true })))).toEqual({ pdf: "install.conflict" });
    const result = updateOf(await metier.update({ yes: true, force: true }));
    expect(result.diagnostics).toEqual([]);
    expect(readText(result.updated[0]?.kept[0] ?? "", "SKILL.md")).toContain("Mine.");
    for (const place of [link, copy]) expect(readText(place, "SKILL.md")).toContain("Second.");
    const back = await metier.rollback("pdf");
    expect(back).toMatchObject({ ok: true, diagnostics: [] });
    for (const place of [link, copy]) expect(readText(place, "SKILL.md")).toContain("First.");
    expect((await metier.verify()).ok).toBe(true);
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
