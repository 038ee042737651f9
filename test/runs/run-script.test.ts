/** Scripts that a model runs: of its own skill and of others, in a run and in a chat; and what they may see. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runFolder } from "@metier/run/events";
import { expect, test } from "vitest";
import { openChat } from "../support/chat.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { createScriptWorld } from "../support/script-world.ts";
import { calls, eventsOf, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { skill } from "../support/world.ts";

const KEY = "pplx-4711-do-not-show";

describeSandbox("run_script in a run", () => {
  verifies([182], "runs scripts of its own skill, in the run's own work folder", async () => {
    const world = createScriptWorld({ demo: { "a.sh": 'cat > "$METIER_WORK_DIR/in.json"; echo done' } });
    const { run } = await openRuns(world, [
      calls("run_script", { script: "a.sh", stdin: [1, { b: 2 }] }),
      says("Done.", { toolResult: "stdout:\ndone" }),
    ]);
    const { result } = await run({ skill: "demo", approve: "all" });
    const { work } = runFolder({ runs: join(world.home, ".metier/state/runs") }, result.runId);
    expect(readFileSync(join(work, "in.json"), "utf8")).toBe('[1,{"b":2}]');
  });

  test("runs those of another skill in its world, with its variables and not with the run's", async () => {
    const print =
      'echo "own=$OWN_KEY other=$OTHER_KEY"; pwd; cat "$PROJECT/notes.txt"; touch "$METIER_WORK_DIR/made"';
    const world = createScriptWorld(
      { demo: {}, other: { "a.sh": print } },
      {
        demo: "env: [OWN_KEY]",
        other: "env: [OTHER_KEY, PROJECT]",
      },
    );
    world.write({
      "project/notes.txt": "notes of the project",
      "home/.metier/config.toml": `[skills.demo]\nOWN_KEY = "${KEY}"\n[skills.other]\nOTHER_KEY = "other-${KEY}"\nPROJECT = { value = "${world.project}", secret = false }\n`,
    });
    const { run } = await openRuns(world, [
      calls("run_script", { skill: "other", script: "a.sh" }),
      says("Done.", {
        toolResult: {
          matches: String.raw`own= other=\[redacted:OTHER_KEY\]\n.+other\nnotes of the project`,
        },
      }),
    ]);
    const { result } = await run({ skill: "demo", approve: "all" });
    expect(result.status).toBe("completed");
    expect(result.files.map(({ path }) => path)).toEqual(["made"]);
  });

  verifies(
    [182],
    "runs those of an untrusted skill without the project, secrets or the run's work folder",
    async () => {
      const world = createScriptWorld({ demo: { "own.sh": 'echo mine > "$METIER_WORK_DIR/mine"' } });
      world.write({
        "project/notes.txt": "notes of the project",
        "other/theirs/SKILL.md": skill("theirs"),
        "other/theirs/look.sh": `cat "${world.project}/notes.txt"; ls -A "$METIER_WORK_DIR"; find "${world.home}" -name mine 2>/dev/null; echo end`,
      });
      const { run } = await openRuns(
        world,
        [
          calls("run_script", { script: "own.sh" }),
          calls("run_script", { skill: "theirs", script: "look.sh" }),
          calls(
            "bash",
            { command: "echo again" },
            { toolResult: { matches: String.raw`stdout:\nend\nstderr:\ncat: ` } },
          ),
          says("Done."),
        ],
        { paths: [join(world.root, "other")] },
      );
      const { result } = await run({ skill: "demo", approve: "all" });
      expect(result.status).toBe("completed");
    },
  );

  test("offers an untrusted run its own scripts alone", async () => {
    const world = createScriptWorld({ mine: { "a.sh": "echo ran" } });
    world.write({ "other/theirs/SKILL.md": skill("theirs"), "other/theirs/b.sh": "echo theirs ran" });
    const { run } = await openRuns(
      world,
      [
        calls("run_script", { skill: "mine", script: "a.sh" }),
        calls("run_script", { script: "b.sh" }),
        says("Done.", { toolResult: "theirs ran" }),
      ],
      { paths: [join(world.root, "other")] },
    );
    const { result, events } = await run({ skill: "theirs", approve: "all" });
    expect(result.trust).toBe("untrusted");
    expect(eventsOf(events, "tool-finished")[0]?.isError).toBe(true);
  });

  test("treats what an untrusted script wrote as an untrusted text in the conversation", async () => {
    const world = createScriptWorld(
      { demo: {} },
      { demo: "allowed-tools: [run_script, bash]\nenv: [OWN_KEY]" },
    );
    world.write({
      "home/.metier/config.toml": `[skills.demo]\nOWN_KEY = "${KEY}"\n`,
      "other/theirs/SKILL.md": skill("theirs"),
      "other/theirs/a.sh": "echo hello",
    });
    const { run } = await openRuns(
      world,
      [
        calls("bash", { command: 'echo "key: $OWN_KEY"' }),
        calls("run_script", { skill: "theirs", script: "a.sh" }, { toolResult: "key: [redacted" }),
        calls("bash", { command: "echo no more" }, { toolResult: "hello" }),
        says("Done."),
      ],
      { paths: [join(world.root, "other")] },
    );
    const { result } = await run({ skill: "demo" });
    expect(result.denied).toEqual([{ tool: "bash", reason: expect.any(String) }]);
  });

  test("keeps to what the config denies", async () => {
    const world = createScriptWorld({ demo: { "a.sh": "echo ran" } });
    world.write({ "home/.metier/config.toml": '[tools]\nrun_script = "deny"\n' });
    const { run } = await openRuns(world, [calls("run_script", { script: "a.sh" }), says("Done.")]);
    const { events } = await run({ skill: "demo", approve: "all" });
    expect(eventsOf(events, "tool-finished")[0]?.text).not.toContain("ran");
  });
});

describeSandbox("run_script in a chat", () => {
  test("runs scripts of a skill that is named, and of no other", async () => {
    const world = createScriptWorld({ demo: { "a.sh": "echo from the chat; pwd" } });
    const { chat } = await openChat(
      world,
      [
        calls("run_script", { script: "a.sh" }),
        calls("run_script", { skill: "demo", script: "a.sh" }),
        says("Done.", { toolResult: { matches: String.raw`from the chat\n.+/demo` } }),
      ],
      { approve: "all" },
    );
    expect((await chat.send("Run it.")).status).toBe("completed");
  });
});
