/** The bundled skill `gog` with a provider: it is used when it is asked for, and is no more than any other skill. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { offer } from "../support/capability-broker.ts";
import { ROOT } from "../support/repository.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, createRunWorld, openRuns, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";

const ALICE = { userId: "alice", chatId: "42", chatType: "private" } as const;
const DEFINITIONS = ["gog.email", "gog.calendar"].map((id) => ({
  id,
  description: "Something of the user.",
  sensitive: true,
  operations: [{ name: "read", description: "Reads.", requires_auth: false }],
}));

describeSandbox("a run of a bundled skill with capabilities", () => {
  verifies([94, 176], "has no more than a copy of it in the user's own folder", async () => {
    const world = createRunWorld({});
    const copy = join(world.home, ".metier", "skills", "copy");
    cpSync(join(ROOT, "packages/metier/skills", "gog"), copy, { recursive: true });
    const text = readFileSync(join(copy, "SKILL.md"), "utf8").replace("name: gog", "name: copy");
    writeFileSync(join(copy, "SKILL.md"), text.replace("opt-in: true\n", ""));
    world.write({ "home/.metier/config.toml": "[skills.gog]\nenabled = true\n" });
    const foreign = [
      bash("metier-sb capability invoke -c desk.mail -o list_messages"),
      says("No.", { toolResult: { contains: ["capability_not_found"] } }),
    ];
    const { metier, run } = await openRuns(world, [...foreign, ...foreign], {
      bundled: true,
      capabilities: { providers: [offer("gog", DEFINITIONS)] },
    });
    /** All that a run is given, without where its folders lie. */
    const outlineOf = async (skill: string) => {
      const plan = await metier.plan({ skill, caller: ALICE });
      if (!plan.ok) throw new Error("There is no plan.");
      const { tools, hooks, env, capabilities, limits, trust, sandbox } = plan.outline;
      const { backend, declared, granted, network } = sandbox;
      return { tools, hooks, env, capabilities, limits, trust, backend, declared, granted, network };
    };
    expect(await outlineOf("gog")).toEqual(await outlineOf("copy"));
    const group = { ...ALICE, chatType: "group" };
    for (const skill of ["gog", "copy"]) {
      expect((await run({ skill, caller: group })).result.status).toBe("refused");
      expect((await run({ skill, caller: ALICE })).result.capabilities).toMatchObject([{ failed: 1 }]);
    }
  });
});
