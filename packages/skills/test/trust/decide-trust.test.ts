import { onCommandLine } from "@metier/base/text";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  decideTrust,
  decideUserValues,
  type Embedding,
  type TrustInput,
  type TrustRoot,
} from "../../src/trust/decide-trust.ts";
import type { FolderGrant } from "../../src/trust/grants.ts";

const OWN: TrustRoot = {
  kind: "own",
  realPath: "/home/u/.metier/skills",
  grantFolder: "/home/u/.metier/skills",
};
const USER: TrustRoot = {
  kind: "vouched",
  realPath: "/home/u/.agents/skills",
  grantFolder: "/home/u/.agents/skills",
};
const PROJECT: TrustRoot = { kind: "vouched", realPath: "/repo/.claude/skills", grantFolder: "/repo" };
const CUSTOM: TrustRoot = { kind: "foreign", realPath: "/team/skills", grantFolder: "/team/skills" };
const ROOTS = [OWN, USER, PROJECT, CUSTOM];

function decideFor(
  root: TrustRoot,
  scope: TrustInput["scope"],
  embedding: Embedding,
  more: Partial<TrustInput> = {},
): readonly [string, string] {
  const { level, reason } = onCommandLine(() => decideTrust(makeInput(root, scope, embedding, more)));
  return [level, reason];
}

function makeInput(
  root: TrustRoot,
  scope: TrustInput["scope"],
  embedding: Embedding,
  more: Partial<TrustInput> = {},
): TrustInput {
  return {
    name: "demo",
    scope,
    root,
    realPath: `${root.realPath}/demo`,
    knownRoots: ROOTS,
    embedding,
    folderGrants: [],
    trustedPaths: [],
    ...more,
  };
}

function folderGrant(path: string, decision: FolderGrant["decision"] = "trusted"): FolderGrant {
  return { path, decision, decidedAt: "2026-01-01" };
}

describe("by default", () => {
  test.each(["library", "command-line"] as const)("own skills are trusted in the %s", (embedding) => {
    expect(decideFor(OWN, "user", embedding)[0]).toBe("trusted");
    expect(decideFor(OWN, "bundled", embedding)).toEqual(["trusted", "It is part of Metier."]);
    const given = { realPath: "", root: { ...OWN, realPath: "" } };
    expect(decideFor(OWN, "integration", embedding, given)).toEqual([
      "trusted",
      "The embedding program provides it.",
    ]);
  });

  verifies(178, "the library trusts project and user skills, and not custom ones", () => {
    expect(decideFor(PROJECT, "project", "library")).toEqual([
      "trusted",
      "The embedding program vouches for `/repo`.",
    ]);
    expect(decideFor(USER, "user", "library")[0]).toBe("trusted");
    expect(decideFor(CUSTOM, "custom", "library")[0]).toBe("untrusted");
  });

  test("the command line trusts no folder before it was asked about, and says how to", () => {
    expect(decideFor(PROJECT, "project", "command-line")).toEqual([
      "untrusted",
      "`/repo` is not trusted yet; `metier trust /repo` trusts it.",
    ]);
    expect(decideFor(USER, "user", "command-line")[1]).toContain("`metier trust /home/u/.agents/skills`");
  });

  test.each([
    ["custom", "`metier trust demo --path /team/skills`"],
    ["installed", "`metier trust demo`"],
  ] as const)("%s skills are untrusted, and it says how to trust them", (scope, command) => {
    for (const embedding of ["library", "command-line"] as const) {
      const [level, reason] = decideFor(CUSTOM, scope, embedding);
      expect(level).toBe("untrusted");
      expect(reason).toContain(command);
      expect(reason).toContain("`trusted-paths`");
    }
  });
});

describe("`trusted-paths`", () => {
  verifies(178, "promotes custom skills in its whole subtree", () => {
    for (const trustedPaths of [["/team"], ["/team/skills"], ["/team/skills/demo"], ["/"]]) {
      expect(decideFor(CUSTOM, "custom", "library", { trustedPaths })[0]).toBe("trusted");
    }
  });

  verifies(178, "goes by whole path segments", () => {
    for (const trustedPaths of [["/te"], ["/team/skill"], ["/team/skills/dem"], ["/team/skills/demo/sub"]]) {
      expect(decideFor(CUSTOM, "custom", "library", { trustedPaths })[0]).toBe("untrusted");
    }
  });

  test("also answers for a project on the command line", () => {
    expect(decideFor(PROJECT, "project", "command-line", { trustedPaths: ["/repo"] })[0]).toBe("trusted");
  });

  test("does not count for a skill that a link only seems to put there", () => {
    const more = { realPath: "/elsewhere/demo", trustedPaths: ["/team"] };
    expect(decideFor(CUSTOM, "custom", "library", more)[0]).toBe("untrusted");
  });
});

describe("a folder grant", () => {
  test("trusts what really lies in the folder", () => {
    const folderGrants = [folderGrant("/repo")];
    expect(decideFor(PROJECT, "project", "command-line", { folderGrants })).toEqual([
      "trusted",
      "You trust the folder `/repo`.",
    ]);
    expect(decideFor(USER, "user", "command-line", { folderGrants })[0]).toBe("untrusted");
  });

  test("does not reach a folder whose name only begins alike", () => {
    const folderGrants = [folderGrant("/rep"), folderGrant("/repo/.claude/skill")];
    expect(decideFor(PROJECT, "project", "command-line", { folderGrants })[0]).toBe("untrusted");
  });

  test("does not follow a skills folder that is a link out of the project", () => {
    const root: TrustRoot = { ...PROJECT, realPath: "/elsewhere/skills", isLink: true };
    const more = { folderGrants: [folderGrant("/repo")], knownRoots: [root] };
    const [level, reason] = decideFor(root, "project", "command-line", more);
    expect(level).toBe("untrusted");
    expect(reason).toContain("`metier trust /elsewhere/skills`");
  });

  test("does not promote installed or custom skills, which need a grant for their content", () => {
    const folderGrants = [folderGrant("/team/skills")];
    expect(decideFor(CUSTOM, "custom", "command-line", { folderGrants })[0]).toBe("untrusted");
  });

  test("that says no makes the folder untrusted, in the library too", () => {
    const folderGrants = [folderGrant("/repo", "denied")];
    for (const embedding of ["library", "command-line"] as const) {
      expect(decideFor(PROJECT, "project", embedding, { folderGrants })).toEqual([
        "untrusted",
        "You declined to trust `/repo`; `metier trust /repo` changes that.",
      ]);
    }
  });

  test("counts by the nearest folder, whichever way it says", () => {
    const inner = "/repo/.claude/skills/demo";
    const noInside = { folderGrants: [folderGrant("/repo"), folderGrant(inner, "denied")] };
    expect(decideFor(PROJECT, "project", "command-line", noInside)[0]).toBe("untrusted");
    const yesInside = { folderGrants: [folderGrant(inner), folderGrant("/repo", "denied")] };
    expect(decideFor(PROJECT, "project", "command-line", yesInside)[0]).toBe("trusted");
    const named = { folderGrants: [folderGrant("/team", "denied")], trustedPaths: ["/team/skills"] };
    expect(decideFor(CUSTOM, "custom", "library", named)[0]).toBe("trusted");
    const tie = { folderGrants: [folderGrant("/team/skills", "denied")], trustedPaths: ["/team/skills"] };
    expect(decideFor(CUSTOM, "custom", "library", tie)[0]).toBe("untrusted");
  });

  test("that says no to the home folder leaves the user's own skills alone", () => {
    const folderGrants = [folderGrant("/home/u", "denied")];
    expect(decideFor(OWN, "user", "command-line", { folderGrants })[0]).toBe("trusted");
  });
});

describe("a skill grant", () => {
  test("trusts a custom skill as long as its content is the same", () => {
    expect(decideFor(CUSTOM, "custom", "library", { skillGrant: { valid: true } })[0]).toBe("trusted");
  });

  test("that no longer holds shows the difference and what to do", () => {
    const changes = [
      { path: "SKILL.md", change: "changed" },
      { path: "run.sh", change: "mode" },
      { path: "a", change: "added" },
      { path: "b", change: "removed" },
      { path: "c", change: "removed" },
    ] as const;
    const [level, reason] = decideFor(CUSTOM, "custom", "library", { skillGrant: { valid: false, changes } });
    expect(level).toBe("untrusted");
    expect(reason).toBe(
      "It is no longer what you trusted: `SKILL.md` was changed, `run.sh` changed its executable bit, `a` was added, " +
        "2 more. Review it, then `metier trust demo --path /team/skills` trusts it again.",
    );
  });

  test("for one skill of a project outlasts a no to the folder", () => {
    const more = { folderGrants: [folderGrant("/repo", "denied")], skillGrant: { valid: true } as const };
    expect(decideFor(PROJECT, "project", "command-line", more)[0]).toBe("trusted");
  });
});

describe("a link", () => {
  const linked = (root: TrustRoot, target: TrustRoot, more: Partial<TrustInput> = {}): string =>
    decideFor(root, "user", "command-line", { realPath: `${target.realPath}/demo`, ...more })[0];

  test("from a trusted root into another gets the lower of both", () => {
    expect(linked(OWN, CUSTOM)).toBe("untrusted");
    expect(linked(OWN, USER)).toBe("untrusted");
    expect(linked(USER, OWN)).toBe("untrusted");
    expect(linked(OWN, OWN)).toBe("trusted");
  });

  test("needs both ends granted", () => {
    const one = [folderGrant(USER.realPath)];
    const both = [...one, folderGrant("/repo")];
    expect(linked(PROJECT, USER, { folderGrants: one })).toBe("untrusted");
    expect(linked(PROJECT, USER, { folderGrants: both })).toBe("trusted");
    expect(linked(OWN, USER, { folderGrants: one })).toBe("trusted");
  });

  test("out of every known root is never trusted, in the library either", () => {
    const [level, reason] = decideFor(OWN, "user", "library", { realPath: "/elsewhere/demo" });
    expect(level).toBe("untrusted");
    expect(reason).toContain("`/elsewhere/demo`");
  });

  test("that is the skills folder itself counts as well", () => {
    const root: TrustRoot = { ...USER, realPath: CUSTOM.realPath, isLink: true };
    expect(decideFor(root, "user", "library")[0]).toBe("untrusted");
    expect(decideFor(root, "user", "library", { trustedPaths: ["/team"] })[0]).toBe("trusted");
  });

  test("is judged by the innermost root that holds its target", () => {
    const inner: TrustRoot = { ...CUSTOM, realPath: `${OWN.realPath}/vendor`, grantFolder: "" };
    const more = { realPath: `${inner.realPath}/demo`, knownRoots: [...ROOTS, inner] };
    expect(decideFor(USER, "user", "library", more)[0]).toBe("untrusted");
  });

  test("is no reason to doubt a skill that a wider custom path happens to contain", () => {
    const wide: TrustRoot = { kind: "foreign", realPath: "/home/u", grantFolder: "/home/u" };
    expect(decideFor(OWN, "user", "library", { knownRoots: [...ROOTS, wide] })[0]).toBe("trusted");
  });
});

describe("values of the user's config", () => {
  test("reach a project's skill only after a grant, in the library too", () => {
    const input = makeInput(PROJECT, "project", "library");
    expect(decideTrust(input).level).toBe("trusted");
    expect(decideUserValues(input).level).toBe("untrusted");
    expect(decideUserValues({ ...input, folderGrants: [folderGrant("/repo")] }).level).toBe("trusted");
  });

  test("reach other skills as their trust says", () => {
    expect(decideUserValues(makeInput(USER, "user", "library")).level).toBe("trusted");
    expect(decideUserValues(makeInput(CUSTOM, "custom", "library")).level).toBe("untrusted");
  });
});

test("a folder's name cannot act in the shell that a command is pasted into", () => {
  const root: TrustRoot = { ...PROJECT, grantFolder: "/repo", realPath: "/tmp/$(id) it's" };
  expect(decideFor(root, "project", "command-line")[1]).toContain("`metier trust '/tmp/$(id) it'\\''s'`");
});
