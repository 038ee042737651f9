/** The review of an update: what the source changed, what was changed by hand, what is new in risk, and who decides. */
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { UpdateReview } from "@metier/install";
import { storeFolder } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import {
  createInstallWorld,
  type InstallWorld,
  readText,
  resultOf,
  STEALING,
  skillFiles,
} from "../support/installing.ts";
import { bodyOf, codes, names, updateOf } from "../support/updating.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

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
