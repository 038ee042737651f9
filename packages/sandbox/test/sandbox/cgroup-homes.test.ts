/** Where control groups may be made: decided from what the kernel tells, over folders that stand for its hierarchies. */
import { spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { threadId } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { findCgroupHomes, nameGroup } from "../../src/sandbox/process/cgroup-homes.ts";

const USER = process.getuid?.() || 12_345;

interface Hierarchies {
  readonly folder: string;
  /** Lines as in `/proc/self`. */
  readonly mounts: readonly string[];
  readonly groups: readonly string[];
  readonly user?: number;
}

function find({ folder, mounts, groups, user = USER }: Hierarchies): ReturnType<typeof findCgroupHomes> {
  writeTree(folder, { "proc/mountinfo": `${mounts.join("\n")}\n`, "proc/cgroup": `${groups.join("\n")}\n` });
  return findCgroupHomes(join(folder, "proc"), user);
}

function mount(type: string, root: string, point: string, options: string): string {
  return `35 31 0:32 ${root} ${point.replaceAll(" ", "\\040")} rw,relatime - ${type} ${type} ${options}`;
}

/** A group of version 2, and those around it, that belong to the user. */
function makeUsersGroup(folder: string, path: string): void {
  mkdirSync(join(folder, path), { recursive: true });
  for (let group = path; group !== "."; group = dirname(group)) {
    if (process.getuid?.() === 0) chownSync(join(folder, group), USER, USER);
  }
}

describe("control groups of version 1", () => {
  test("are made where Metier's own group is the top of what is mounted", () => {
    const folder = temporaryFolder();
    const point = join(folder, "all of pids");
    mkdirSync(point);
    expect(
      find({ folder, mounts: [mount("cgroup", "/", point, "rw,pids")], groups: ["8:pids:/", "7:cpu:/"] }),
    ).toEqual([{ version: 1, controllers: ["pids"], folder: point, passed: [] }]);
    expect(readdirSync(point)).toEqual([]);
  });

  test("are made in a container, whose own group is mounted as the top", () => {
    const folder = temporaryFolder();
    const found = find({
      folder,
      mounts: [mount("cgroup", "/docker/a", folder, "rw,pids,memory")],
      groups: ["8:memory,pids:/docker/a"],
    });
    expect(found).toMatchObject([{ controllers: ["pids", "memory"], folder }]);
  });

  test("are left alone where someone else put Metier into a group of theirs", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "service"));
    const mounts = [mount("cgroup", "/", folder, "rw,memory")];
    for (const user of [0, USER]) {
      expect(find({ folder, mounts, groups: ["4:memory:/service"], user })).toEqual([]);
    }
  });
});

describe("control groups of version 2", () => {
  test("are made beside Metier's own where the user was given the group around it", () => {
    const folder = temporaryFolder();
    makeUsersGroup(folder, "manager/app/own");
    writeTree(folder, { "manager/app/cgroup.subtree_control": "cpu memory pids\n" });
    const mounts = [mount("cgroup2", "/", folder, "rw")];
    expect(find({ folder, mounts, groups: ["0::/manager/app/own"] })).toEqual([
      {
        version: 2,
        controllers: ["pids", "memory"],
        folder: join(folder, "manager/app"),
        passed: [join(folder, "manager/app/own")],
      },
    ]);
  });

  test("are not made in groups of a service manager, not even by root", () => {
    const folder = temporaryFolder();
    makeUsersGroup(folder, "slice/session");
    writeTree(folder, { "slice/cgroup.subtree_control": "memory pids\n" });
    const mounts = [mount("cgroup2", "/", folder, "rw")];
    for (const user of [0, USER + 1]) {
      expect(find({ folder, mounts, groups: ["0::/slice/session"], user })).toEqual([]);
    }
  });

  test("are not made where nothing is divided among groups, or the own group is not mounted", () => {
    const folder = temporaryFolder();
    writeTree(folder, { "cgroup.subtree_control": "hugetlb\n" });
    const groups = ["0::/"];
    expect(find({ folder, mounts: [mount("cgroup2", "/", folder, "rw")], groups })).toEqual([]);
    expect(find({ folder, mounts: [mount("cgroup2", "/container", folder, "rw")], groups })).toEqual([]);
    expect(find({ folder, mounts: [], groups })).toEqual([]);
  });
});

test("a machine without control groups has none", () => {
  expect(findCgroupHomes(temporaryFolder())).toEqual([]);
});

test("a hierarchy that cannot be written to is not used", () => {
  const folder = temporaryFolder();
  const point = join(folder, "missing");
  expect(find({ folder, mounts: [mount("cgroup", "/", point, "rw,pids")], groups: ["8:pids:/"] })).toEqual(
    [],
  );
});

test.skipIf(!existsSync("/proc/self/ns/pid"))("groups of a Metier process that ended are removed", () => {
  const folder = temporaryFolder();
  const { pid: ended } = spawnSync("true");
  const namespace = readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  const kept = [`metier-${namespace}-${process.pid}-0-7`, `metier-1${namespace}-${ended}-1`, "other"];
  for (const name of [...kept, `metier-${namespace}-${ended}-1`])
    mkdirSync(join(folder, "pids", name), { recursive: true });
  const mounts = [mount("cgroup", "/", join(folder, "pids"), "rw,pids")];
  find({ folder, mounts, groups: ["8:pids:/"] });
  expect(readdirSync(join(folder, "pids")).sort()).toEqual([...kept].sort());
});

test("each group has a name of its own", () => {
  expect(nameGroup()).not.toBe(nameGroup());
  expect(nameGroup()).toMatch(new RegExp(`^metier-\\d+-${process.pid}-${threadId}-\\d+$`));
});
