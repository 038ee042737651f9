/** What the processes of a run see: declared variables and nothing of ours, their own folders and nothing private. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, calls, createRunWorld, eventsOf, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

const KEY = "pplx-4711-do-not-show";

describeSandbox("in the sandbox", () => {
  verifies(
    ["case 74", 163, 185],
    "processes get a minimal environment and the declared variables, and nothing of the parent's",
    async () => {
      process.env.OF_THE_PARENT = "parent-value";
      onTestFinished(() => void delete process.env.OF_THE_PARENT);
      const world = createRunWorld({ echo: ["env: [SEARCH_KEY, REGION]"], other: [] });
      world.write({
        "home/.metier/config.toml": [
          `[skills.echo]\nSEARCH_KEY = "${KEY}"\nREGION = { value = "north", secret = false }`,
          'UNDECLARED = "not asked for"',
          '[skills.other]\nOTHER_KEY = "of another skill"\n',
        ].join("\n"),
      });
      const { run } = await openRuns(world, [bash("env"), says("Done."), bash("env"), says("Done.")], {
        environment: {
          PATH: process.env.PATH,
          ANTHROPIC_API_KEY: "sk-parent",
          OF_THE_PARENT: "parent-value",
        },
      });
      const variablesOf = async (name: string): Promise<Readonly<Record<string, string>>> => {
        const { events } = await run({ skill: name, approve: "all" });
        const [printed] = eventsOf(events, "tool-finished");
        const lines = printed?.text.split("\n").filter((line) => /^\w+=/.test(line)) ?? [];
        return Object.fromEntries(
          lines.map((line) => [line.split("=")[0], line.slice(line.indexOf("=") + 1)]),
        );
      };
      const shell = ["OLDPWD", "PWD", "SHLVL", "_"];
      const own = [
        "HOME",
        "LANG",
        "METIER_DATA_DIR",
        "METIER_SKILL_DIR",
        "METIER_WORK_DIR",
        "PATH",
        "TERM",
        "TMPDIR",
      ];
      const echo = await variablesOf("echo");
      expect(
        Object.keys(echo)
          .filter((name) => !shell.includes(name))
          .sort(),
      ).toEqual([...own, "REGION", "SEARCH_KEY"].sort());
      expect(echo).toMatchObject({ REGION: "north", SEARCH_KEY: expect.stringMatching(/SEARCH_KEY/) });
      const other = await variablesOf("other");
      expect(
        Object.keys(other)
          .filter((name) => !shell.includes(name))
          .sort(),
      ).toEqual(own);
    },
  );

  verifies(
    207,
    "a skill that echoes its key: the process saw it, and everyone else sees a placeholder",
    async () => {
      const world = createRunWorld({ echo: ["env: [SEARCH_KEY]", "Run `echo $SEARCH_KEY`."] });
      world.write({ "home/.metier/config.toml": `[skills.echo]\nSEARCH_KEY = "${KEY}"\n` });
      const { run } = await openRuns(world, [
        bash(
          'echo "$SEARCH_KEY"; printf %s "$SEARCH_KEY" | wc -c; test "$SEARCH_KEY" = pplx-4711-"do-not-show" && echo same',
        ),
        says(`The key is ${KEY}.`, {
          toolResult: { matches: `^(?![\\s\\S]*${KEY})[\\s\\S]*${KEY.length}\\s+same` },
        }),
      ]);
      const { result, events } = await run({ skill: "echo", approve: "all" });
      expect(result.status).toBe("completed");
      expect(result.text).toMatch(/^The key is .*SEARCH_KEY.*\.$/);
      expect(JSON.stringify([result, events])).not.toContain(KEY);
    },
  );

  verifies(
    210,
    "a run reads its skill's references, works in its own folder and leaves the project alone",
    async () => {
      const world = createRunWorld({ notes: ["", "Read references/style.md first."] });
      world.write({
        "home/.metier/skills/notes/references/style.md": "Write short sentences.",
        "home/secret.txt": "of the home folder",
        "project/input.txt": "some input",
        "project/.env": "PROJECT_SECRET=1",
      });
      const { run } = await openRuns(world, [
        calls("read_skill_file", { skill: "notes", path: "references/style.md" }),
        bash('cat "$METIER_SKILL_DIR/references/style.md" input.txt', {
          toolResult: "Write short sentences.",
        }),
        bash(
          'cp input.txt "$METIER_WORK_DIR/copy.txt"; touch here 2>&1; touch "$METIER_SKILL_DIR/x" 2>&1; true',
          {
            toolResult: { contains: ["Write short sentences.", "some input"] },
          },
        ),
        bash(
          `cat ${world.home}/secret.txt ${world.home}/.metier/config.toml .env 2>&1; ls ${world.home}; true`,
          {
            toolResult: "Read-only",
          },
        ),
        says("Done.", { toolResult: { matches: "^(?![\\s\\S]*(of the home folder|PROJECT_SECRET=1))" } }),
      ]);
      const { result } = await run({ skill: "notes", approve: "all" });
      expect(result).toMatchObject({
        status: "completed",
        files: [{ path: "copy.txt", size: "some input".length }],
        sandbox: { backend: "bubblewrap" },
      });
      expect(existsSync(join(world.project, "here"))).toBe(false);
      const copy = join(world.home, ".metier", "state", "runs", result.runId, "work", "copy.txt");
      expect(readFileSync(copy, "utf8")).toBe("some input");
    },
  );

  test("a write into the working directory needs `write`, and trust", async () => {
    const world = createRunWorld({ mine: [] });
    world.write({ "other/theirs/SKILL.md": skill("theirs"), "project/plan.txt": "the plan" });
    const touch = bash(`touch ${world.project}/made 2>&1; cat ${world.project}/plan.txt 2>&1; true`);
    const { run } = await openRuns(
      world,
      [touch, says("Mine."), touch, says("Theirs.", { toolResult: { matches: "^(?![\\s\\S]*the plan)" } })],
      { paths: [`${world.root}/other`] },
    );
    await run({ skill: "mine", approve: "all", write: true });
    expect(existsSync(join(world.project, "made"))).toBe(true);
    const { result } = await run({ skill: "theirs", approve: "all", write: true });
    expect(result).toMatchObject({ trust: "untrusted", text: "Theirs." });
  });
});
