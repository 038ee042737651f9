/** What must not be told is not told by any run that comes upon it, whoever it was given to; restricted skills stay hidden. */
import { expect, test } from "vitest";
import {
  calls,
  createRunWorld,
  eventsOf,
  openRuns,
  programTool,
  says,
  useSkill,
} from "../support/scripted-runs.ts";

const CHILD = "canary-of-the-child-1234";
const PARENT = "canary-of-the-parent-5678";

function createSecretWorld() {
  const world = createRunWorld({
    parent: ["env: [PARENT_KEY]"],
    child: ["env: [CHILD_KEY]\ncontext: fork"],
    plain: [],
  });
  world.write({
    "home/.metier/config.toml": `[skills.parent]\nPARENT_KEY = "${PARENT}"\n[skills.child]\nCHILD_KEY = "${CHILD}"\n`,
  });
  return world;
}

test("a run redacts what its caller was given, and the reverse", async () => {
  const spill = programTool("spill", `${PARENT} ${CHILD} given-with-the-call`);
  const { run } = await openRuns(
    createSecretWorld(),
    [
      useSkill("child", "Look."),
      calls("spill", {}),
      says("Seen."),
      calls("spill", {}),
      says(`${CHILD} ${PARENT}`),
    ],
    { tools: [spill] },
  );
  const { result, events } = await run({ skill: "parent", env: { PARENT_KEY: "given-with-the-call" } });
  expect(result.status).toBe("completed");
  const told = JSON.stringify([result, events]);
  expect(eventsOf(events, "tool-finished").filter(({ tool }) => tool === "spill")).toHaveLength(2);
  for (const secret of [PARENT, CHILD, "given-with-the-call"]) expect(told).not.toContain(secret);
});

test("a run redacts what the config has for other skills, in its result too", async () => {
  const { run } = await openRuns(createSecretWorld(), [calls(`no-${CHILD}`, {}), says("Done.")]);
  const { result, events } = await run({ skill: "plain", message: `The key is ${CHILD}.` });
  expect(result.denied).toHaveLength(1);
  expect(JSON.stringify([result, events])).not.toContain(CHILD);
});

test("skills that a caller would be refused are neither named nor read to it in a run", async () => {
  const world = createRunWorld({ open: [], vault: ["sensitive: true", "Only in private."] });
  const script = [calls("read_skill_file", { skill: "vault", path: "SKILL.md" }), says("Done.")];
  const group = await openRuns(world, script);
  const { events, result } = await group.run({ skill: "open", caller: { chatType: "group" } });
  expect(JSON.stringify([events, result])).not.toContain("Only in private.");
  const own = await openRuns(world, script);
  const allowed = await own.run({ skill: "open", caller: { chatType: "private" } });
  expect(JSON.stringify(allowed.events)).toContain("Only in private.");
});

test("invisible characters are taken out of an input, with a diagnostic", async () => {
  const { run } = await openRuns(createRunWorld({ plain: [] }), [says("Done.")]);
  const { result, events } = await run({ skill: "plain", input: { note: "a\u202Eb" } });
  expect(JSON.stringify(eventsOf(events, "model-called"))).not.toContain("\u202E");
  expect(result.diagnostics).toContainEqual(expect.objectContaining({ code: "disclosure.text-removed" }));
});
