import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { digestBytes } from "@metier/base/digest";
import { metierPlaces, type Places } from "@metier/base/places";
import { describe, expect, test, vi } from "vitest";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { type ContentIdentity, identifyContent } from "../../src/trust/content-identity.ts";
import { grantFolder, grantSkill, readGrants, revoke } from "../../src/trust/grant-store.ts";
import { isConfigGranted, nearestFolderGrant } from "../../src/trust/grants.ts";

const posix = process.platform !== "win32";

function makePlaces(): Places {
  return metierPlaces(temporaryFolder());
}

function makeFolder(name: string): string {
  const folder = join(temporaryFolder(), name);
  mkdirSync(folder);
  return folder;
}

function makeSkill(): {
  readonly name: string;
  readonly location: string;
  readonly identity: ContentIdentity;
} {
  const directory = makeFolder("demo");
  writeTree(directory, { "SKILL.md": skillText("name: demo\ndescription: Shows.") });
  const location = join(directory, "SKILL.md");
  const outcome = identifyContent({ form: "directory", directory, location });
  if (!outcome.ok) throw new Error(outcome.refusal.message);
  return { name: "demo", location, identity: outcome.value };
}

/** A grants file with this text; only the owner may write to it unless the test says otherwise. */
function writeGrantsFile(places: Places, text: string, mode = 0o600): void {
  mkdirSync(places.base, { recursive: true });
  writeFileSync(places.grantsFile, text);
  chmodSync(places.grantsFile, mode);
}

function keptAside(places: Places): readonly string[] {
  return readdirSync(places.base).filter((name) => name.startsWith("grants.json.broken-"));
}

describe("folder grants", () => {
  test("are empty before the first decision, and reading makes no file", () => {
    const places = makePlaces();
    expect(readGrants(places)).toEqual({ folders: [], skills: [], diagnostics: [] });
    expect(existsSync(places.base)).toBe(false);
  });

  test("bind to the real path and survive edits in the folder", () => {
    const places = makePlaces();
    const folder = makeFolder("project");
    const link = join(temporaryFolder(), "link");
    symlinkSync(folder, link);
    expect(grantFolder(places, { path: link, decision: "trusted" })).toMatchObject({ ok: true });
    writeTree(folder, { ".claude/skills/a/SKILL.md": "new" });
    expect(readGrants(places).folders).toMatchObject([{ path: folder, decision: "trusted" }]);
  });

  test("record a no as well, and the later answer replaces the earlier", () => {
    const places = makePlaces();
    const folder = makeFolder("project");
    grantFolder(places, { path: folder, decision: "denied" });
    expect(readGrants(places).folders).toMatchObject([{ path: folder, decision: "denied" }]);
    const configDigest = digestBytes("[skills]");
    grantFolder(places, { path: folder, decision: "trusted", configDigest });
    expect(readGrants(places).folders).toMatchObject([{ path: folder, decision: "trusted", configDigest }]);
  });

  test("are refused for what is no folder", () => {
    const places = makePlaces();
    const file = join(makeFolder("project"), "file");
    writeFileSync(file, "");
    for (const path of [file, `${file}-missing`]) {
      const outcome = grantFolder(places, { path, decision: "trusted" });
      expect(outcome).toMatchObject({ ok: false, refusal: { code: "trust.folder-missing", path } });
    }
    expect(readGrants(places).folders).toEqual([]);
  });

  test("count for the nearest folder, segment by segment", () => {
    const decidedAt = "2026-01-01T00:00:00.000Z";
    const folders = [
      { path: "/work", decision: "trusted", decidedAt },
      { path: "/work/vendor", decision: "denied", decidedAt },
    ] as const;
    expect(nearestFolderGrant(folders, "/work/a")?.decision).toBe("trusted");
    expect(nearestFolderGrant(folders, "/work/vendor/a")?.decision).toBe("denied");
    expect(nearestFolderGrant(folders, "/work/vendored")?.decision).toBe("trusted");
    expect(nearestFolderGrant(folders, "/workshop")).toBeUndefined();
  });

  test("cover a project config only as long as it is the file that was granted", () => {
    const decidedAt = "2026-01-01T00:00:00.000Z";
    const configDigest = digestBytes("one");
    const folders = [{ path: "/work", decision: "trusted", configDigest, decidedAt }] as const;
    expect(isConfigGranted(folders, "/work", configDigest)).toBe(true);
    expect(isConfigGranted(folders, "/work", digestBytes("two"))).toBe(false);
    expect(isConfigGranted(folders, "/other", configDigest)).toBe(false);
    expect(isConfigGranted([{ ...folders[0], decision: "denied" }], "/work", configDigest)).toBe(false);
  });
});

describe("skill grants", () => {
  test("store name, place, identity and every file with its stamp", () => {
    const places = makePlaces();
    const skill = makeSkill();
    const { grant, diagnostics } = grantSkill(places, skill);
    expect(diagnostics).toEqual([]);
    expect(readGrants(places).skills).toEqual([grant]);
    expect(grant).toMatchObject({ name: "demo", location: skill.location, ...skill.identity });
    expect(grant.files[0]?.stamp).toMatch(/^\d+(:\d+){5}$/);
  });

  test("replace the earlier one of that name and place only", () => {
    const places = makePlaces();
    const skill = makeSkill();
    grantSkill(places, skill);
    grantSkill(places, skill);
    grantSkill(places, { ...skill, location: "/elsewhere/SKILL.md" });
    expect(readGrants(places).skills).toHaveLength(2);
  });
});

describe("revoking", () => {
  test("works by folder, by skill name and by digest, and tells what went", () => {
    const places = makePlaces();
    const folder = makeFolder("project");
    const skill = makeSkill();
    grantFolder(places, { path: folder, decision: "denied" });
    grantSkill(places, skill);
    expect(revoke(places, { folder }).revoked).toMatchObject({ folders: [{ path: folder }], skills: [] });
    expect(revoke(places, { skill: "demo" }).revoked.skills).toMatchObject([{ name: "demo" }]);
    grantSkill(places, skill);
    expect(revoke(places, { digest: skill.identity.digest }).revoked.skills).toHaveLength(1);
    expect(readGrants(places)).toMatchObject({ folders: [], skills: [] });
  });

  test("reaches the grant of a folder that is gone", () => {
    const places = makePlaces();
    writeGrantsFile(
      places,
      JSON.stringify({
        version: 1,
        folders: [{ path: "/gone/for/good", decision: "trusted", decidedAt: "2026-01-01" }],
        skills: [],
      }),
    );
    expect(revoke(places, { folder: "/gone/for/../for/good" }).revoked.folders).toHaveLength(1);
  });

  test("of something unknown changes nothing", () => {
    const places = makePlaces();
    writeGrantsFile(places, "broken");
    expect(revoke(places, { skill: "demo" })).toMatchObject({
      revoked: { folders: [], skills: [] },
      diagnostics: [{ code: "trust.grants-unusable" }],
    });
    expect(readFileSync(places.grantsFile, "utf8")).toBe("broken");
  });
});

describe("the file", () => {
  test.runIf(posix)("is for the owner alone", () => {
    const places = makePlaces();
    grantFolder(places, { path: makeFolder("project"), decision: "trusted" });
    expect(statSync(places.grantsFile).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(places.grantsFile)).mode & 0o777).toBe(0o700);
    chmodSync(places.grantsFile, 0o644);
    grantFolder(places, { path: makeFolder("project"), decision: "trusted" });
    expect(statSync(places.grantsFile).mode & 0o777).toBe(0o600);
  });

  const folderGrant = { path: "/", decision: "trusted", decidedAt: "2026-01-01" };
  test.each([
    ["not JSON", "{", "not JSON"],
    ["empty", "", "not JSON"],
    ["a list", "[]", "not a JSON object"],
    ["of another version", '{"version": 2, "folders": [], "skills": []}', "version is 2"],
    ["without a version", '{"folders": [], "skills": []}', "version is undefined"],
    ["with grants in its prototype", '{"__proto__": {"version": 1, "folders": [], "skills": []}}', "version"],
    [
      "with a grant in an entry's prototype",
      `{"version": 1, "skills": [], "folders": [{"__proto__": ${JSON.stringify(folderGrant)}}]}`,
      "`folders`",
    ],
    [
      "with an unknown decision",
      JSON.stringify({ version: 1, skills: [], folders: [{ ...folderGrant, decision: "yes" }] }),
      "`folders`",
    ],
    [
      "with a relative path",
      JSON.stringify({ version: 1, skills: [], folders: [{ ...folderGrant, path: "." }] }),
      "`folders`",
    ],
    [
      "with a digest that is none",
      JSON.stringify({
        version: 1,
        folders: [],
        skills: [{ name: "a", location: "/a", digest: "sha256:0", files: [], decidedAt: "" }],
      }),
      "`skills`",
    ],
    ["nested beyond reason", "[".repeat(200_000), "not JSON"],
  ])("that is %s grants nothing and says why", (_, text, why) => {
    const places = makePlaces();
    writeGrantsFile(places, text);
    const grants = readGrants(places);
    expect(grants).toMatchObject({ folders: [], skills: [] });
    expect(grants.diagnostics).toMatchObject([{ code: "trust.grants-unusable", path: places.grantsFile }]);
    expect(grants.diagnostics[0]?.message).toContain(why);
    expect(({} as Record<string, unknown>).version).toBeUndefined();
  });

  test("that cannot be used is kept under another name when a grant is written", () => {
    const places = makePlaces();
    writeGrantsFile(places, "precious but broken");
    const outcome = grantFolder(places, { path: makeFolder("project"), decision: "trusted" });
    const [kept] = keptAside(places);
    expect(outcome).toMatchObject({
      ok: true,
      value: {
        diagnostics: [{ code: "trust.grants-kept-aside", path: join(places.base, kept ?? "missing") }],
      },
    });
    expect(readFileSync(join(places.base, kept ?? "missing"), "utf8")).toBe("precious but broken");
    expect(readGrants(places)).toMatchObject({ folders: [{ decision: "trusted" }], diagnostics: [] });
  });

  test.runIf(posix)("that is a link is not read, and what it leads to is never written", () => {
    const places = makePlaces();
    const planted = join(makeFolder("project"), "planted.json");
    const text = JSON.stringify({ version: 1, folders: [folderGrant], skills: [] });
    writeFileSync(planted, text);
    mkdirSync(places.base);
    symlinkSync(planted, places.grantsFile);
    expect(readGrants(places)).toMatchObject({
      folders: [],
      diagnostics: [{ code: "trust.grants-unusable", message: expect.stringContaining("link") }],
    });
    grantFolder(places, { path: makeFolder("mine"), decision: "trusted" });
    expect(readFileSync(planted, "utf8")).toBe(text);
    expect(keptAside(places)).toHaveLength(1);
    expect(readGrants(places).folders).toHaveLength(1);
  });

  test.runIf(posix)("that others can write to is not the user's decision", () => {
    const places = makePlaces();
    const text = JSON.stringify({ version: 1, folders: [folderGrant], skills: [] });
    writeGrantsFile(places, text, 0o620);
    expect(readGrants(places)).toMatchObject({
      folders: [],
      diagnostics: [{ message: expect.stringContaining("chmod 600") }],
    });
    chmodSync(places.grantsFile, 0o600);
    expect(readGrants(places)).toMatchObject({ folders: [folderGrant], diagnostics: [] });
  });

  test.runIf(posix)("that belongs to someone else is not the user's decision", () => {
    const places = makePlaces();
    writeGrantsFile(places, JSON.stringify({ version: 1, folders: [folderGrant], skills: [] }));
    if (process.getuid?.() === 0) chownSync(places.grantsFile, 4711, 4711);
    const owner = statSync(places.grantsFile).uid;
    const asAnother = vi.spyOn(process, "getuid").mockReturnValue(owner + 1);
    try {
      expect(readGrants(places)).toMatchObject({
        folders: [],
        diagnostics: [{ message: expect.stringContaining(`belongs to user ${owner}`) }],
      });
    } finally {
      asAnother.mockRestore();
    }
  });
});

describe("several processes", () => {
  const store = new URL("../../src/trust/grant-store.ts", import.meta.url).href;

  async function grantAtOnce(places: Places, folders: readonly string[]): Promise<void> {
    const program = `
      const { grantFolder } = await import(${JSON.stringify(store)});
      for (const path of process.argv.slice(2)) {
        const outcome = grantFolder({ grantsFile: process.argv[1] }, { path, decision: "trusted" });
        if (!outcome.ok) process.exitCode = 1;
      }`;
    const writers = [0, 1, 2, 3].map((writer) => {
      const own = folders.filter((_, index) => index % 4 === writer);
      const options = ["--no-warnings", "--input-type=module", "-e", program, places.grantsFile, ...own];
      return spawn(process.execPath, options, { stdio: ["ignore", "ignore", "inherit"] });
    });
    const codes = await Promise.all(writers.map(async (writer) => (await once(writer, "exit"))[0]));
    expect(codes).toEqual([0, 0, 0, 0]);
  }

  function makeFolders(count: number): readonly string[] {
    const root = temporaryFolder();
    return Array.from({ length: count }, (_, index) => {
      const folder = join(root, `folder-${index}`);
      mkdirSync(folder);
      return folder;
    });
  }

  test("that grant at once lose no grant and leave no lock", async () => {
    const places = makePlaces();
    const folders = makeFolders(40);
    await grantAtOnce(places, folders);
    expect(
      readGrants(places)
        .folders.map((grant) => grant.path)
        .sort(),
    ).toEqual([...folders].sort());
    expect(readdirSync(places.base)).toEqual(["grants.json"]);
  });

  test("get past the lock of a process that died, together", async () => {
    const places = makePlaces();
    const folders = makeFolders(20);
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    mkdirSync(places.base);
    writeFileSync(`${places.grantsFile}.lock`, `${pid} ${hostname()} token`);
    await grantAtOnce(places, folders);
    expect(readGrants(places).folders).toHaveLength(20);
    expect(readdirSync(places.base)).toEqual(["grants.json"]);
  });

  test("get past a lock that nobody can be asked about once it is old", () => {
    const places = makePlaces();
    mkdirSync(places.base);
    for (const holder of ["", `${process.pid} ${hostname()} stuck`, "1 another-machine token"]) {
      writeFileSync(`${places.grantsFile}.lock`, holder);
      utimesSync(`${places.grantsFile}.lock`, 1_000, 1_000);
      expect(grantFolder(places, { path: makeFolder("project"), decision: "trusted" }).ok).toBe(true);
    }
    expect(readGrants(places).folders).toHaveLength(3);
  });
});
