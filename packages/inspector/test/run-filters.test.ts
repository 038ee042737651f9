/** Which runs pass a filter, which filters are kept, and how newer knowledge gets into a list. */
import { expect, test } from "vitest";
import { filterRuns, isNarrowed, readFilter, valuesOf } from "../src/page/run/filter-runs.ts";
import { addSaved, BUILT_IN, isSameFilter, readSaved } from "../src/page/run/saved-filters.ts";
import { mergeRuns } from "../src/page/state/merge-runs.ts";
import { manyRuns } from "./support/many-runs.ts";

const NOW = new Date(2026, 10, 17, 12).getTime();
const RUNS = manyRuns(500, NOW);

function pass(query: Readonly<Record<string, string>>): ReturnType<typeof filterRuns> {
  return filterRuns(RUNS, readFilter(new Map(Object.entries(query))), NOW);
}

test("without a filter the list is the same list", () => {
  expect(pass({})).toBe(RUNS);
  expect(isNarrowed(readFilter(new Map([["tab", "x"]])))).toBe(false);
});

test("skill, agent, user and status narrow, and all of them together", () => {
  expect(pass({ skill: "research" }).every(({ skill }) => skill === "research")).toBe(true);
  expect(pass({ agent: "buyer" })).toHaveLength(125);
  expect(pass({ user: "ada" }).every(({ userId }) => userId === "ada")).toBe(true);
  const both = pass({ status: "failed,limited", user: "grace" });
  expect(both.length).toBeGreaterThan(0);
  expect(both.every(({ status, userId }) => /failed|limited/.test(status) && userId === "grace")).toBe(true);
});

test("every word of the search has to stand somewhere, whatever its case", () => {
  expect(
    pass({ q: "RESEARCH ada" }).every(({ skill, userId }) => skill === "research" && userId === "ada"),
  ).toBe(true);
  expect(pass({ q: "r000500" }).map(({ id }) => id)).toEqual(["r000500"]);
  expect(pass({ q: "nothing-has-this" })).toEqual([]);
});

test("today begins at midnight, and a range of days includes its last one", () => {
  const midnight = new Date(2026, 10, 17).toISOString();
  expect(pass({ time: "today" }).every(({ createdAt }) => createdAt >= midnight)).toBe(true);
  expect(pass({ time: "today" })).toHaveLength(37);
  const day = pass({ time: "between", from: "2026-11-16", to: "2026-11-16" });
  expect(day).toHaveLength(72);
  expect(pass({ time: "between", from: "nonsense", to: "" })).toHaveLength(500);
  expect(pass({ time: "7d" }).length).toBeGreaterThan(pass({ time: "today" }).length);
});

test("a cost is a least one; what is no number asks for nothing", () => {
  expect(pass({ cost: "1" }).every(({ cost = 0 }) => cost >= 1)).toBe(true);
  expect(pass({ cost: "x" })).toHaveLength(500);
});

test("what can be chosen is what the runs have, in order", () => {
  expect(valuesOf(RUNS, "userId")).toEqual(["ada", "grace", "linus"]);
});

test("kept filters come back as they were; what others wrote there is left out", () => {
  const filter = readFilter(new Map([["skill", "research"]]));
  const saved = addSaved(addSaved([], " Mine ", filter), "Other", readFilter(new Map([["q", "x"]])));
  expect(readSaved(JSON.stringify(saved))).toEqual(saved);
  expect(saved[0]).toEqual({ name: "Mine", query: { skill: "research" } });
  expect(addSaved(saved, "Mine", filter)).toHaveLength(2);
  expect(readSaved("{")).toEqual([]);
  expect(readSaved('[3, {"name": 1}, {"name": "a", "query": {"href": "x", "q": 3, "user": "ada"}}]')).toEqual(
    [{ name: "a", query: { user: "ada" } }],
  );
});

test("a filter knows itself in the address", () => {
  const [failed, waiting] = BUILT_IN;
  const filter = readFilter(new Map([["status", "waiting"]]));
  expect([failed, waiting].map((one) => one && isSameFilter(one, filter))).toEqual([false, true]);
});

test("a changed run takes its own place, and a new one the first", () => {
  const [newest, second] = RUNS;
  if (!newest || !second) throw new Error("no runs");
  const changed = { ...second, status: "cancelled" as const };
  const added = { ...newest, id: "new", createdAt: new Date(NOW + 1).toISOString() };
  const merged = mergeRuns(RUNS, [changed, added]);
  expect(merged).toHaveLength(501);
  expect(merged.slice(0, 3)).toEqual([added, newest, changed]);
});
