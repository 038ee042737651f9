import { describe, expect, test } from "vitest";
import type { FolderGrant } from "../../src/trust/grants.ts";
import {
  listTrustQuestions,
  type TrustQuestionInput,
  type VouchedRoot,
} from "../../src/trust/trust-question.ts";

const CLAUDE: VouchedRoot = {
  scope: "project",
  realPath: "/repo/.claude/skills",
  grantFolder: "/repo",
  skills: 2,
};
const NESTED: VouchedRoot = { ...CLAUDE, realPath: "/repo/app/.agents/skills", skills: 1 };
const USER: VouchedRoot = {
  scope: "user",
  realPath: "/home/u/.claude/skills",
  grantFolder: "/home/u/.claude/skills",
  skills: 5,
};
const CONFIG = { path: "/repo/.metier/config.toml", digest: "sha256:1" };

function ask(more: Partial<TrustQuestionInput>): ReturnType<typeof listTrustQuestions> {
  return listTrustQuestions({
    roots: [],
    projectFolder: "/repo",
    folderGrants: [],
    trustedPaths: [],
    ...more,
  });
}

function grant(path: string, more: Partial<FolderGrant> = {}): FolderGrant {
  return { path, decision: "trusted", decidedAt: "2026-01-01", ...more };
}

describe("the first-use question", () => {
  test("is asked once for the whole project, and once for each user folder", () => {
    expect(ask({ roots: [USER, CLAUDE, NESTED] })).toEqual([
      {
        folder: "/repo",
        scope: "project",
        skills: 3,
        roots: [CLAUDE.realPath, NESTED.realPath],
        about: "new",
      },
      { folder: USER.realPath, scope: "user", skills: 5, roots: [USER.realPath], about: "new" },
    ]);
  });

  test("is not asked about folders without skills", () => {
    expect(ask({ roots: [{ ...CLAUDE, skills: 0 }] })).toEqual([]);
  });

  test("is not asked again after a yes or a no, nor below `trusted-paths`", () => {
    expect(ask({ roots: [CLAUDE], folderGrants: [grant("/repo")] })).toEqual([]);
    expect(ask({ roots: [CLAUDE], folderGrants: [grant("/", { decision: "denied" })] })).toEqual([]);
    expect(ask({ roots: [CLAUDE], trustedPaths: ["/repo"] })).toEqual([]);
  });

  test("names a linked folder by its real path, since that is what a grant binds to", () => {
    const linked = { ...CLAUDE, realPath: "/elsewhere/skills" };
    expect(ask({ roots: [linked], folderGrants: [grant("/repo")] })).toMatchObject([
      { folder: "/elsewhere/skills", skills: 2 },
    ]);
  });
});

describe("a project config", () => {
  test("is part of the question, also when the project has no skills", () => {
    expect(ask({ roots: [CLAUDE, USER], projectConfig: CONFIG })).toMatchObject([
      { folder: "/repo", config: CONFIG, about: "new" },
      { folder: USER.realPath },
    ]);
    expect(ask({ projectConfig: CONFIG })).toEqual([
      { folder: "/repo", scope: "project", skills: 0, roots: [], config: CONFIG, about: "new" },
    ]);
  });

  test("that differs from the granted one is asked about again", () => {
    const folderGrants = [grant("/repo", { configDigest: "sha256:0" })];
    expect(ask({ projectConfig: CONFIG, folderGrants })).toMatchObject([{ about: "config-changed" }]);
    const same = [grant("/repo", { configDigest: CONFIG.digest })];
    expect(ask({ projectConfig: CONFIG, folderGrants: same })).toEqual([]);
  });

  test("that was refused is not asked about again until it changes", () => {
    const folderGrants = [grant("/repo", { refusedConfigDigest: CONFIG.digest })];
    expect(ask({ projectConfig: CONFIG, folderGrants })).toEqual([]);
    expect(ask({ projectConfig: { ...CONFIG, digest: "sha256:2" }, folderGrants })).toHaveLength(1);
  });

  test("in a denied folder is not asked about", () => {
    expect(ask({ projectConfig: CONFIG, folderGrants: [grant("/repo", { decision: "denied" })] })).toEqual(
      [],
    );
  });
});
