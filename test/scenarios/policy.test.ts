/** The machine's policy against a program that embeds Metier: no option and no call gets past it. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { SkillError } from "@metier/base/errors";
import { createMetierUnder, type Metier, type MetierOptions } from "@metier/runtime";
import { describe, expect, test } from "vitest";
import { createWorld, skill, type World } from "../support/world.ts";

interface PolicyWorld extends World {
  readonly policyFile: string;
  open(options?: MetierOptions): Promise<Metier>;
}

function worldUnder(policy: (root: string) => string): PolicyWorld {
  const world = createWorld();
  const { root, home, project: cwd } = world;
  world.write({
    "policy.toml": policy(root),
    "project/.metier/skills/p/SKILL.md": skill("p"),
    "allowed/a/SKILL.md": skill("a"),
    "elsewhere/c/SKILL.md": skill("c"),
  });
  const policyFile = join(root, "policy.toml");
  const open = (options: MetierOptions = {}): Promise<Metier> =>
    createMetierUnder(policyFile, { cwd, home, environment: {}, ...options });
  return { ...world, policyFile, open };
}

test("a policy without bundled skills has none, whatever the program says", async () => {
  const world = worldUnder(() => "[skills]\nbundled = false\n");
  for (const bundled of [true, "unless-disabled"] as const) {
    const metier = await world.open({ bundled, config: { skills: { bundled: true } } });
    expect(metier.names()).toEqual(["p"]);
    expect(metier.config.origins.get("skills.bundled")).toMatchObject({ layer: "policy" });
  }
});

describe("a policy that names the paths there may be", () => {
  const policy = (root: string): string => `[skills]\npaths = ["${join(root, "allowed")}"]\n`;

  test("refuses to register another one, and names itself", async () => {
    const world = worldUnder(policy);
    for (const autoDiscover of [true, false]) {
      const metier = await world.open({ autoDiscover });
      const path = join(world.root, "elsewhere/c");
      const fault = await metier.register(path).catch((error: unknown) => error);
      expect(fault).toBeInstanceOf(SkillError);
      expect(fault).toMatchObject({
        message: expect.stringContaining(`the policy ${world.policyFile}:2 has`),
        hint: expect.stringContaining("administrator"),
      });
      expect(metier.has("c")).toBe(false);
      expect((await metier.register(join(world.root, "allowed/a"))).name).toBe("a");
      await metier.discover();
      expect(metier.names()).toEqual(["a", "p"]);
    }
  });

  test("drops another path, also one that hides behind a link, and says so", async () => {
    const world = worldUnder(policy);
    const link = join(world.root, "allowed/link");
    symlinkSync(join(world.root, "elsewhere"), link);
    const elsewhere = join(world.root, "elsewhere");
    const metier = await world.open({ paths: [elsewhere, link, join(world.root, "allowed/a")] });
    expect(metier.names()).toEqual(["a", "p"]);
    expect(metier.diagnostics().filter(({ code }) => code === "config.policy-drops-path")).toEqual(
      [link, elsewhere].map((path) => ({
        code: "config.policy-drops-path",
        severity: "warning",
        path,
        message: `\`${path}\` is not used: the policy ${world.policyFile}:2 has \`skills.paths = ["${join(world.root, "allowed")}"]\`, and the path is in none of these.`,
        hint: expect.stringContaining("administrator"),
      })),
    );
  });

  test("lets a wider path stand for what it allows of it, also before discovery", async () => {
    const world = worldUnder(policy);
    const metier = await world.open({ autoDiscover: false });
    expect((await metier.register(world.root)).name).toBe("a");
    expect(metier.names()).toEqual(["a"]);
    await metier.deregister("a");
    expect(metier.names()).toEqual([]);
  });
});

test("a policy without discovery keeps it off, asked for or not, and says so", async () => {
  const world = worldUnder(() => "[skills]\nauto-discover = false\n");
  const metier = await world.open({
    autoDiscover: true,
    bundled: true,
    paths: [join(world.root, "allowed")],
  });
  for (const found of [[], await metier.discover()]) {
    expect(found).toEqual([]);
    expect(metier.names()).toEqual(["a"]);
    expect(metier.diagnostics()).toMatchObject([
      { code: "source.discovery-off", path: world.policyFile, line: 2 },
    ]);
  }
});

test("a policy's deny list holds for skills that a program registers or brings", async () => {
  const world = worldUnder(() => '[skills]\ndeny = ["c", "g"]\n');
  const metier = await world.open({
    allow: ["*"],
    integrations: [{ name: "g", description: "G.", instructions: "Do." }],
  });
  expect(await metier.register(join(world.root, "elsewhere/c"))).toMatchObject({ status: "disabled" });
  expect(metier.names()).toEqual(["p"]);
});
