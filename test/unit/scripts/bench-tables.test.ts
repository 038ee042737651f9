/** What the benches say of themselves, read again: the page of goals, and the comparison of two versions. */
import { expect, test } from "vitest";
import { compareSections } from "../../../bench/against.mjs";
import { goalPage } from "../../../bench/page.mjs";
import { table } from "../../../bench/report.mjs";
import { readMeasured } from "../../../bench/tables.mjs";

const section = (list: string, rate: string) =>
  [
    "## A bench",
    table(["10,000 skills", "median ms", "of the bare read"], [["`metier list`", list, "1.20×"]]),
    table(["5 steps", "runs a second"], [["durable runs", rate]]),
    table(["goal (by the fastest run)", "measured", ""], [["list within 1.5×", "1.20×", "met"]]),
  ].join("\n\n");

test("times, sizes and rates are read, ratios and goals are not", () => {
  expect(readMeasured(section("1,234.5", "60"))).toEqual([
    { name: "10,000 skills: `metier list`", column: "median ms", value: 1234.5 },
    { name: "5 steps: durable runs", column: "runs a second", value: 60 },
  ]);
});

test("a unit in a table's title is that of its columns, but not of those computed from others", () => {
  const head = ["one run, min (median) ms", "bare", "metier", "metier: over bare"];
  const runs = table(head, [["1 step", "0.38 (0.45)", "0.76 (0.97)", "0.38"]]);
  const name = "one run, min (median) ms: 1 step";
  expect(readMeasured(runs)).toEqual([
    { name, column: "bare", value: 0.38 },
    { name, column: "metier", value: 0.76 },
  ]);
});

test("the page has every goal beside what was recorded, and counts the missed ones", () => {
  const before = table(["goal", "measured", ""], [["list within 1.5×", "1.90×", "missed"]]);
  const now = `${section("5", "60")}\n\n${table(["goal", "measured", ""], [["new", "3 ms", "missed"]])}\n\n${table(["goal: equal", "a second", "p99", ""], [["http", "0.9×", "1.1×", "missed"]])}`;
  const page = goalPage([{ bench: "list", now, before }]);
  expect(page).toContain("| list: list within 1.5× | 1.20× | met | 1.90× |");
  expect(page).toContain("| list: new | 3 ms | missed | not recorded |");
  expect(page).toContain("| list: http | 0.9×, 1.1× | missed | not recorded |");
  expect(page).toContain("2 of 3 goals are missed.");
  expect(goalPage([{ bench: "list", now: section("5", "60"), before: undefined }])).toContain("All 1 goals");
});

test("a version is slower where all of its runs are, by more than a twentieth; a rate is slower when it is less", () => {
  const rows = compareSections(
    [section("100", "60"), section("110", "66")],
    [section("120", "40"), section("130", "41")],
  );
  expect(rows).toEqual([
    ["10,000 skills: `metier list`, median ms", "100", "120", "1.20×", "slower"],
    ["5 steps: durable runs, runs a second", "66", "41", "1.61×", "slower"],
  ]);
  const within = compareSections(
    [section("100", "60"), section("130", "66")],
    [section("120", "61"), section("125", "99")],
  );
  expect(within.map((row) => row.at(-1))).toEqual(["", ""]);
  const faster = compareSections(
    [section("100", "60"), section("110", "60")],
    [section("50", "90"), section("60", "91")],
  );
  expect(faster.map((row) => row.at(-1))).toEqual(["faster", "faster"]);
});
