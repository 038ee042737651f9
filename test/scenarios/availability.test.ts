import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill } from "../support/world.ts";

describe("enablement", () => {
  verifies(
    [91, 94, "case 42"],
    "disabled, opt-in, opted-in and plain skills: the matrix of four",
    async () => {
      const world = createWorld();
      world.write({
        "home/.metier/config.toml": "[skills.off]\nenabled = false\n[skills.chosen]\nenabled = true\n",
        "project/.metier/skills/off/SKILL.md": skill("off"),
        "project/.metier/skills/opt/SKILL.md": skill("opt", "opt-in: true"),
        "project/.metier/skills/chosen/SKILL.md": skill("chosen", "opt_in: true"),
        "project/.metier/skills/plain/SKILL.md": skill("plain"),
      });
      const metier = await world.metier();
      expect(metier.names()).toEqual(["chosen", "plain"]);
      expect(metier.require("off")).toMatchObject({
        status: "disabled",
        reason: expect.stringContaining("[skills.off]"),
      });
      expect(metier.require("opt")).toMatchObject({
        status: "disabled",
        reason: expect.stringContaining("set `enabled = true` under `[skills.opt]`"),
      });
    },
  );

  verifies([67], "allow and deny globs decide what may be used, and deny wins", async () => {
    const world = createWorld();
    world.write(
      Object.fromEntries(
        ["pdf-read", "pdf-old", "code-review", "other"].map((name) => [
          `project/.metier/skills/${name}/SKILL.md`,
          skill(name),
        ]),
      ),
    );
    const metier = await world.metier({ allow: ["pdf-*", "code-*"], deny: ["*-old"] });
    expect(metier.names()).toEqual(["code-review", "pdf-read"]);
    expect(metier.require("pdf-old").reason).toBe("denied by `*-old` in `skills.deny`");
    expect(metier.require("other").reason).toBe("not listed in `skills.allow`");
  });

  verifies(
    "case 41",
    "bundled skills are off in the library unless asked for, and on in the command line",
    async () => {
      const world = createWorld();
      expect((await world.metier()).names()).toEqual([]);
      expect((await world.metier({ bundled: true })).names().length).toBeGreaterThanOrEqual(3);
      expect((await world.cli("list", "--json")).json.skills.length).toBeGreaterThanOrEqual(3);
      world.write({ "home/.metier/config.toml": "[skills]\nbundled = false\n" });
      expect((await world.cli("list", "--json")).json.skills).toEqual([]);
    },
  );
});

describe("availability", () => {
  verifies(
    [95, 96, "case 46", "case 47"],
    "missing commands are named in order, found ones are not",
    async () => {
      const world = createWorld();
      world.write({
        "project/.metier/skills/a/SKILL.md": skill("a", "metadata:\n  requires: zz-no-b sh zz-no-a"),
        "project/.metier/skills/b/SKILL.md": skill("b", 'metadata:\n  requires: "  sh\\t sh "'),
        "project/.metier/skills/c/SKILL.md": skill("c", 'metadata:\n  requires: ""'),
        "project/.metier/skills/d/SKILL.md": skill(
          "d",
          "requires:\n  bins: [zz-no-a]\n  anyBins: [zz-x, sh]",
        ),
        "project/.metier/skills/e/SKILL.md": skill("e", "requires:\n  env: [ZZ_MISSING]\n  os: [plan9]"),
      });
      const metier = await world.metier();
      expect(metier.names()).toEqual(["b", "c"]);
      expect(metier.require("a")).toMatchObject({
        status: "unavailable",
        reason: "missing commands: zz-no-b, zz-no-a",
      });
      expect(metier.require("d").reason).toBe("missing commands: zz-no-a");
      expect(metier.require("e").reason).toMatch(/^missing environment: ZZ_MISSING; not for /);
    },
  );

  verifies("case 48", "a command name with special characters runs nothing and breaks nothing", async () => {
    const world = createWorld();
    const marker = join(world.root, "ran");
    world.write({
      "project/.metier/skills/a/SKILL.md": skill(
        "a",
        `requires:\n  bins: ["touch ${marker}", "$(touch ${marker})", "../../bin/sh", "-x"]`,
      ),
    });
    expect((await world.metier()).require("a").status).toBe("unavailable");
    expect(existsSync(marker)).toBe(false);
  });

  verifies("case 49", "a skill that requires nothing is never unavailable", async () => {
    const world = createWorld({ environment: { PATH: "" } });
    world.write({ "project/.metier/skills/a/SKILL.md": skill("a") });
    expect((await world.metier()).require("a").status).toBe("enabled");
  });

  test("a command that appears makes the skill available at the next reload", async () => {
    const world = createWorld();
    const bin = join(world.root, "bin");
    world.write({
      "bin/keep": "",
      "project/.metier/skills/a/SKILL.md": skill("a", "requires:\n  bins: [zz-tool]"),
    });
    const metier = await world.metier({ environment: { PATH: bin } });
    expect(metier.require("a").status).toBe("unavailable");
    writeFileSync(join(bin, "zz-tool"), "#!/bin/sh\n");
    chmodSync(join(bin, "zz-tool"), 0o755);
    expect((await metier.reload()).require("a").status).toBe("enabled");
  });

  verifies(102, "`compatibility` only hints: a note, never unavailability", async () => {
    const world = createWorld({ environment: { PATH: "" } });
    world.write({ "project/.metier/skills/a/SKILL.md": skill("a", "compatibility: Requires docker") });
    const metier = await world.metier();
    expect(metier.require("a").status).toBe("enabled");
    expect(metier.diagnostics()).toMatchObject([{ code: "catalog.compatibility", severity: "info" }]);
  });

  verifies(103, "the version comes from the metadata", async () => {
    const world = createWorld();
    world.write({ "project/.metier/skills/a/SKILL.md": skill("a", 'metadata:\n  version: "1.2.0"') });
    expect((await world.cli("list", "--json", "--scope", "project")).json.skills[0].version).toBe("1.2.0");
  });
});
