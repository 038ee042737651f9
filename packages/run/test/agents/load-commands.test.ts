import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld } from "../../../../test/support/world.ts";
import { loadCommands } from "../../src/agents/load-commands.ts";
import { sourcesOf } from "./sources.ts";

describe("custom commands", () => {
  verifies(
    77,
    "are found in `.claude/commands` and `.metier/commands`, sub-folders named with a colon",
    async () => {
      const world = createWorld();
      world.write({
        "project/.claude/commands/review.md":
          "---\ndescription: Review the diff\nargument-hint: [file]\nallowed-tools: Bash(git diff:*), Read\nmodel: fast\n---\n\nReview $ARGUMENTS.\n",
        "project/.claude/commands/git/commit.md": "Write a commit message.\n",
        "home/.metier/commands/Daily Notes.md": "List what I did.\n",
        "project/.claude/commands/readme.txt": "not a command",
      });
      const { commands, diagnostics } = await loadCommands(await sourcesOf(world));
      expect(diagnostics.map(({ code }) => code)).toEqual([
        "definition.not-honoured",
        "field.structure-for-text",
      ]);
      expect([...commands.keys()]).toEqual(["daily-notes", "git:commit", "review"]);
      expect(commands.get("review")).toMatchObject({
        body: "Review $ARGUMENTS.",
        location: join(world.project, ".claude/commands/review.md"),
        scope: "project",
        trust: { level: "trusted" },
        manifest: {
          description: "Review the diff",
          argumentHint: "[file]",
          allowedTools: ["Bash(git diff:*)", "Read"],
          model: "fast",
        },
      });
      expect(commands.get("git:commit")?.manifest.description).toBe("Write a commit message.");
    },
  );

  test("of the project win over the user's, unless they are untrusted", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/commands/go.md": "mine",
      "project/.metier/commands/go.md": "theirs",
    });
    const vouched = await loadCommands(await sourcesOf(world));
    expect(vouched.commands.get("go")?.body).toBe("theirs");
    const { commands, diagnostics } = await loadCommands(await sourcesOf(world, "command-line"));
    expect(commands.get("go")).toMatchObject({ body: "mine", trust: { level: "trusted" } });
    expect(diagnostics.map(({ code }) => code)).toEqual(["definition.untrusted-shadow"]);
  });

  test("say which of their parts have no effect", async () => {
    const world = createWorld();
    world.write({
      "project/.claude/commands/all.md":
        "---\nmodel: fast\ncontext: fork\n---\n\nSee !`git status` and @src/main.ts\n",
      "project/.claude/commands/none.md": "---\ndescription: Ask\n---\n\nWrite to ada@example.org or @ada.\n",
    });
    const { commands, diagnostics } = await loadCommands(await sourcesOf(world));
    expect([...commands.keys()]).toEqual(["all", "none"]);
    expect(diagnostics).toMatchObject([{ code: "definition.not-honoured", severity: "warning" }]);
    expect(diagnostics[0]?.path).toContain("all.md");
    expect(diagnostics[0]?.message).toContain(
      "`model`, `context`, commands in its text (``!`…` ``), files in its text (`@path`).",
    );
  });

  test("without text are reported and left out", async () => {
    const world = createWorld();
    world.write({
      "project/.metier/commands/empty.md": "\n",
      "project/.metier/commands/only-fields.md": "---\ndescription: Nothing to do\n---\n",
      "project/.metier/commands/~.md": "A name of nothing.",
    });
    const { commands, diagnostics } = await loadCommands(await sourcesOf(world));
    expect(commands.size).toBe(0);
    expect(diagnostics.map(({ code }) => code)).toEqual(Array(3).fill("definition.empty"));
  });
});
