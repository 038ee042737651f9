/** What no grant opens: homes, secrets, what other programs obey, and what a link in a granted folder leads to. */
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createRunFolders } from "../../../../test/support/run-world.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { buildProfile } from "../../src/sandbox/bubblewrap/profile.ts";
import { refreshWorld } from "../../src/sandbox/world/build-world.ts";
import { accessTo } from "../../src/sandbox/world/world.ts";

test("granted folders are seen, writable ones can be changed, and secrets in both stay hidden", () => {
  const folders = createRunFolders();
  folders.write({
    "data/a.txt": "",
    "data/.env": "KEY=1",
    "out/deep/.env.local": "KEY=1",
    "out/.git/config": "",
  });
  const [data, out] = [join(folders.root, "data"), join(folders.root, "out")];
  const { world, diagnostics } = folders.build({ grantedRead: [data], grantedWrite: [out] });
  expect(diagnostics).toEqual([]);
  expect(accessTo(world, join(data, "a.txt"))).toBe("read");
  expect(accessTo(world, join(out, "new"))).toBe("write");
  for (const hidden of [join(data, ".env"), join(out, "deep/.env.local")]) {
    expect(world.masked).toContain(hidden);
    expect(accessTo(world, hidden)).toBe("none");
  }
  expect(accessTo(world, join(out, ".git/config"))).toBe("read");
  expect(accessTo(world, join(out, ".vscode"))).toBe("read");
});

verifies(183, "a home folder, secrets by their names and private places are not granted", () => {
  const folders = createRunFolders();
  folders.write({
    "home/.ssh/id": "",
    "data/.env": "",
    "data/.env.d/keys": "",
    "home/.metier/config.toml": "",
    "home/notes/a.md": "",
  });
  const at = (path: string): string => join(folders.root, path);
  const refused = ["home", ".", "home/.ssh", "data/.env", "data/.env.d/keys", "home/.metier", "gone"].map(at);
  for (const path of [...refused, "/", "/etc"]) {
    const { world, diagnostics } = folders.build({ grantedRead: [path], grantedWrite: [path] });
    expect(world.readable, path).toEqual([folders.work, folders.project, folders.skill]);
    expect(world.writable, path).toEqual([folders.work]);
    expect(diagnostics[0], path).toMatchObject({ code: "sandbox.path-not-shown" });
  }
  const { world } = folders.build({ grantedRead: [at("home/notes")] });
  expect(accessTo(world, at("home/notes/a.md"))).toBe("read");
});

test("what other programs obey cannot be granted for writing, however narrowly it is asked for", () => {
  const folders = createRunFolders();
  folders.write({ "data/.git/hooks/x": "", "data/.vscode/tasks.json": "", "skills/pdf/SKILL.md": "" });
  const at = (path: string): string => join(folders.root, path);
  for (const path of ["data/.git/hooks", "data/.git", "data/.vscode", "skills/pdf"].map(at)) {
    const { world, diagnostics } = folders.build({ grantedWrite: [path] });
    expect(world.writable, path).toEqual([folders.work]);
    expect(diagnostics, path).toMatchObject([{ code: "sandbox.path-not-writable" }]);
  }
});

test("a folder that a run moved away and replaced by a link is not followed by its next command", () => {
  const folders = createRunFolders();
  folders.write({ "data/a/b/c/x": "", "home/private/secret": "" });
  const [data, deep] = [join(folders.root, "data"), join(folders.root, "data/a/b/c")];
  const world = folders.world({ grantedWrite: [data], grantedRead: [deep] });
  expect(world.readable).toContain(deep);
  renameSync(join(data, "a"), join(data, "old"));
  mkdirSync(join(data, "a/b"), { recursive: true });
  symlinkSync(join(folders.root, "home/private"), deep);
  const now = refreshWorld(world);
  expect(now.readable).not.toContain(deep);
  const command = { argv: ["true"], world: now, env: {}, limits: { timeoutMs: 1000, maxOutputBytes: 10 } };
  const { args } = buildProfile(
    { command, world: now, identity: { uid: 1000, gid: 1000 }, programs: { files: {}, folders: [] } },
    4,
  );
  expect(args).not.toContain(deep);
});
