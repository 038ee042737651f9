/** What `doctor` says about the limits that hold here. */
import { expect, test } from "vitest";
import { describeHeldLimits, describeProbes, findHeldLimits } from "../../src/sandbox/probe.ts";
import { cgroupHomes } from "../../src/sandbox/process/cgroup-homes.ts";

test("limits are told by what holds them", () => {
  expect(
    describeHeldLimits({
      prlimit: ["file size", "memory"],
      cgroup: ["pids", "memory"],
      watchdog: ["processes", "work folder"],
    }),
  ).toBe("prlimit (file size, memory); control group (pids, memory); watchdog (processes, work folder)");
});

test("what does not hold is told too", () => {
  expect(describeHeldLimits({ prlimit: [], cgroup: [], watchdog: ["work folder"] })).toBe(
    "no `prlimit`, so a single file or process can grow; no control group that Metier can divide; watchdog (work folder)",
  );
});

test("the limits of this machine are those that were found on it", () => {
  const found = findHeldLimits(true, true);
  expect(found.prlimit).toEqual(expect.arrayContaining(["file size", "memory", "processor time"]));
  expect(new Set(found.cgroup)).toEqual(new Set(cgroupHomes().flatMap(({ controllers }) => controllers)));
  expect(found.watchdog).toContain("work folder");
  expect(findHeldLimits(false, true).prlimit).toEqual([]);
  expect(findHeldLimits(true, false).prlimit).not.toContain("threads");
});

test("a probe that works has a line with its limits, and one that does not has none", () => {
  const limits = { prlimit: ["memory"], cgroup: [], watchdog: ["memory"] };
  const lines = describeProbes([
    { backend: "bubblewrap", available: true, reason: "/usr/bin/bwrap.", limits },
    { backend: "just-bash", available: false, reason: "It was not asked for." },
  ]);
  expect(lines).toEqual([
    "bubblewrap: works; /usr/bin/bwrap.",
    expect.stringMatching(/^limits of bubblewrap: prlimit \(memory\); no control group/),
    "just-bash: does not work; It was not asked for.",
  ]);
});
