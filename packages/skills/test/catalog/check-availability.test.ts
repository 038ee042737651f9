import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createCommandFinder } from "@metier/base/programs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { type AvailabilityContext, checkAvailability } from "../../src/catalog/decide-status.ts";
import type { SkillRequirements } from "../../src/skill/manifest.ts";

const NOTHING: SkillRequirements = { bins: [], anyBins: [], env: [], os: [] };

function makeContext(
  commands: readonly string[] = [],
  more: Partial<AvailabilityContext> = {},
): AvailabilityContext {
  return {
    findCommand: (name) => (commands.includes(name) ? `/bin/${name}` : undefined),
    environment: {},
    platform: "linux",
    ...more,
  };
}

function reasonFor(
  requires: Partial<SkillRequirements>,
  context: AvailabilityContext = makeContext(),
): string | undefined {
  const result = checkAvailability({ requires: { ...NOTHING, ...requires } }, context);
  return result.available ? undefined : result.reason;
}

describe("required commands", () => {
  verifies([96, "case 47"], "that are missing are named, only those and in order", () => {
    expect(reasonFor({ bins: ["gh", "git", "docker"] }, makeContext(["git"]))).toBe(
      "missing commands: gh, docker",
    );
    expect(reasonFor({ bins: ["docker", "gh"] })).toBe("missing commands: docker, gh");
  });

  verifies([95, "case 47"], "that are on PATH make a skill available", () => {
    const folder = temporaryFolder();
    writeTree(folder, { gh: "#!/bin/sh\n" });
    chmodSync(join(folder, "gh"), 0o755);
    const findCommand = createCommandFinder({ PATH: folder });
    expect(reasonFor({ bins: ["gh"] }, makeContext([], { findCommand }))).toBeUndefined();
    expect(reasonFor({ bins: ["gh", "gh2"] }, makeContext([], { findCommand }))).toBe(
      "missing commands: gh2",
    );
  });

  verifies("case 46", "that are blank count for nothing, and a repeated one is named once", () => {
    expect(reasonFor({ bins: [""] })).toBeUndefined();
    expect(reasonFor({ bins: [" ", "\t"] })).toBeUndefined();
    expect(reasonFor({ bins: [" gh\t", "gh"] })).toBe("missing commands: gh");
  });

  verifies("case 48", "with special characters are missing and are not executed", () => {
    const findCommand = createCommandFinder({ PATH: process.env.PATH });
    const bins = ["sh; exit 1", "$(id)", "../sh", "-c"];
    expect(reasonFor({ bins }, makeContext([], { findCommand }))).toBe(
      `missing commands: ${bins.join(", ")}`,
    );
  });

  verifies(["case 49", 17], "that nobody asks for never make a skill unavailable", () => {
    expect(checkAvailability({ requires: NOTHING }, makeContext())).toEqual({ available: true, hints: [] });
  });

  test("with a choice need one of them", () => {
    expect(reasonFor({ anyBins: ["podman", "docker"] })).toBe("needs one of: podman, docker");
    expect(reasonFor({ anyBins: ["podman", "docker"] }, makeContext(["docker"]))).toBeUndefined();
  });
});

describe("required environment", () => {
  const env = ["FOO", "BAR"];

  test("may come from the environment or from the skill's own settings", () => {
    expect(reasonFor({ env })).toBe("missing environment: FOO, BAR");
    const settingsEnv = { BAR: { value: "x", secret: true } };
    expect(reasonFor({ env }, makeContext([], { environment: { FOO: "1" }, settingsEnv }))).toBeUndefined();
    expect(reasonFor({ env }, makeContext([], { settingsEnv }))).toBe("missing environment: FOO");
  });

  test("is not met by an empty value or by what every object has", () => {
    expect(reasonFor({ env: ["FOO"] }, makeContext([], { environment: { FOO: "" } }))).toContain("FOO");
    expect(reasonFor({ env: ["constructor"] })).toBe("missing environment: constructor");
  });
});

describe("the operating system", () => {
  test.each([
    ["darwin", ["macos"], undefined],
    ["darwin", ["macOS"], undefined],
    ["darwin", ["OSX"], undefined],
    ["win32", ["Windows"], undefined],
    ["linux", ["darwin", "linux"], undefined],
    ["linux", ["macos"], "not for linux (needs darwin)"],
    ["linux", ["osx", "darwin", "windows"], "not for linux (needs darwin or win32)"],
    ["linux", ["freebsd"], "not for linux (needs freebsd)"],
    ["linux", ["constructor"], "not for linux (needs constructor)"],
  ] as const)("%s with `os: %j`: %s", (platform, os, reason) => {
    expect(reasonFor({ os }, makeContext([], { platform }))).toBe(reason);
  });
});

test("several reasons are given together", () => {
  expect(reasonFor({ bins: ["gh"], anyBins: ["a", "b"], env: ["KEY"], os: ["macos"] })).toBe(
    "missing commands: gh; needs one of: a, b; missing environment: KEY; not for linux (needs darwin)",
  );
});

describe("`compatibility`", () => {
  function hintsFor(compatibility: string, context: AvailabilityContext = makeContext()): readonly string[] {
    const result = checkAvailability({ requires: NOTHING, compatibility }, context);
    expect(result.available).toBe(true);
    return result.hints;
  }

  verifies(102, "gives a hint about an operating system it is limited to", () => {
    const hint = ["`compatibility` names macos; this is linux"];
    expect(hintsFor("macOS only")).toEqual(hint);
    expect(hintsFor("Only works on macOS.")).toEqual(hint);
    expect(hintsFor("Requires macOS 13 or later")).toEqual(hint);
    expect(hintsFor("Windows-only", makeContext([], { platform: "darwin" }))).toHaveLength(1);
    expect(hintsFor("macOS only", makeContext([], { platform: "darwin" }))).toEqual([]);
    expect(hintsFor("Requires macOS or Linux")).toEqual([]);
    expect(hintsFor("Works on macOS, tested on Windows")).toEqual([]);
  });

  verifies(102, "gives a hint about well-known commands that it requires and PATH lacks", () => {
    const text = "Requires git, docker, jq, and access to the internet";
    expect(hintsFor(text, makeContext(["git", "jq"]))).toEqual([
      "`compatibility` names `docker`, which is not on PATH",
    ]);
    expect(hintsFor("Requires Python and uv", makeContext(["python"]))).toEqual([
      "`compatibility` names `uv`, which is not on PATH",
    ]);
  });

  test("that offers a choice, a condition or an option gives no hint", () => {
    expect(hintsFor("Requires docker or podman")).toEqual([]);
    expect(hintsFor("Requires nothing. Optional fallback uses curl (+ jq if available).")).toEqual([]);
    expect(hintsFor("Requires git-lfs and docker-compose")).toEqual([]);
    expect(hintsFor("Designed for Claude Code (or similar products)")).toEqual([]);
    expect(hintsFor("Uses docker")).toEqual([]);
  });

  verifies(102, "gives a hint about a newer Node or Python than there is", () => {
    const [major = 0] = process.versions.node.split(".").map(Number);
    expect(hintsFor(`Node.js >= ${major + 1}`)).toEqual([
      `\`compatibility\` names Node ${major + 1}.0; this is ${process.versions.node}`,
    ]);
    expect(hintsFor(`Requires Node ${major}+`)).toEqual([]);

    const folder = temporaryFolder();
    writeTree(folder, { "python3.11": "" });
    chmodSync(join(folder, "python3.11"), 0o755);
    symlinkSync("python3.11", join(folder, "python3"));
    const context = makeContext([], { findCommand: createCommandFinder({ PATH: folder }) });
    expect(hintsFor("Requires Python 3.14+", context)).toEqual([
      "`compatibility` names Python 3.14; `python3` is 3.11",
    ]);
    expect(hintsFor("Requires Python 3.9 or later", context)).toEqual([]);
  });

  test("of any content and length is read without a fault", () => {
    const words = [
      "requires",
      "macos",
      " or ",
      ", ",
      "/",
      "only",
      "node",
      ">=",
      "3.",
      "python ",
      "99",
      ".",
      "\n",
    ];
    const text = fc.array(fc.oneof(fc.constantFrom(...words), fc.string()), { maxLength: 400 });
    fc.assert(
      fc.property(text, (parts) => {
        expect(hintsFor(parts.join(""), makeContext()).length).toBeLessThan(50);
      }),
      { numRuns: 200 },
    );
    expect(hintsFor("macos, ".repeat(200_000))).toEqual([]);
  });
});
