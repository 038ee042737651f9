/** A skill of the user with a reference file: written by hand, found, checked, told of, read, and used in a run. */
import { expect } from "vitest";
import { calls, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill } from "../support/world.ts";

const BODY = "Follow the examples in references/examples.md.";

verifies(
  [4, 60, 210],
  "a skill in the user's folder works with its references, from list to run",
  async () => {
    const world = createWorld();
    world.write({
      "home/.agent/skills/my-skill/SKILL.md": skill("my-skill", "", BODY),
      "home/.agent/skills/my-skill/references/examples.md": "Example: say `tide`, not `water movement`.",
    });
    const { metier, run } = await openRuns(
      world,
      [
        calls("read_file", { path: "references/examples.md" }, { system: BODY }),
        calls(
          "read_skill_file",
          { skill: "my-skill", path: "references/examples.md" },
          { toolResult: { matches: "examples\\.md" } },
        ),
        says("The tide is high.", { toolResult: "Example: say `tide`" }),
      ],
      { preset: "agent-harness" },
    );
    expect(metier.list()).toMatchObject([{ name: "my-skill", scope: "user", trust: { level: "trusted" } }]);
    expect(metier.renderListing()).toContain("<name>my-skill</name>");
    expect((await metier.getInstructions("my-skill")).text).toBe(BODY);
    expect(metier.listResources("my-skill").resources).toMatchObject([
      { path: "references/examples.md", kind: "references" },
    ]);
    const activated = await metier.activate({ skill: "my-skill" });
    expect(activated).toMatchObject({
      kind: "inline",
      text: expect.stringContaining("references/examples.md"),
    });
    const { result } = await run({ skill: "my-skill" });
    expect(result).toMatchObject({ status: "completed", text: "The tide is high.", iterations: 3 });
    const listed = await world.cli("skill", "show", "my-skill", "--preset", "agent-harness");
    expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("my-skill") });
  },
);
