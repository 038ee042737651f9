import { join } from "node:path";
import { expect, test } from "vitest";
import {
  applyBaseline,
  type Baseline,
  readBaseline,
  renderBaseline,
  type ScannedPlace,
} from "../src/baseline.ts";
import { type Finding, fingerprintOf } from "../src/scanned-skill.ts";

const FILE = join("/work", "baseline.json");

function finding(id: string, seen: string, line = 1): Finding {
  const path = "run.sh";
  return { id, severity: "high", path, line, message: id, fingerprint: fingerprintOf(id, path, seen) };
}

function place(name: string, directory: string, ...findings: readonly Finding[]): ScannedPlace {
  return { name, directory, findings };
}

function baselineOf(...skills: readonly ScannedPlace[]): Baseline {
  const reading = readBaseline(FILE, renderBaseline(FILE, skills));
  if (!reading.ok) throw new Error(reading.refusal.message);
  return reading.value;
}

test("what was accepted is left out, on whatever line it stands now", () => {
  const baseline = baselineOf(place("mail", "/work/mail", finding("a.b", "curl x")));
  const applied = applyBaseline(baseline, [
    place("mail", "/work/mail", finding("a.b", "curl  x", 9), finding("a.b", "curl y")),
  ]);
  expect(applied).toMatchObject({ accepted: 1, stale: [] });
  expect(applied.skills[0]?.findings).toEqual([finding("a.b", "curl y")]);
});

test("an entry never holds for another skill, nor for one of the same name elsewhere", () => {
  const baseline = baselineOf(place("mail", "/work/mail", finding("a.b", "curl x")));
  const others = [
    place("post", "/work/mail", finding("a.b", "curl x")),
    place("mail", "/work/copy", finding("a.b", "curl x")),
  ];
  for (const other of others) expect(applyBaseline(baseline, [other]).skills).toEqual([other]);
});

test("an entry never holds for another rule", () => {
  const accepted = finding("a.b", "curl x");
  const baseline = baselineOf(place("mail", "/work/mail", accepted));
  const other = { ...accepted, id: "c.d" };
  expect(applyBaseline(baseline, [place("mail", "/work/mail", other)]).accepted).toBe(0);
});

test("a skill that lies elsewhere goes by its name, so that an update keeps what was accepted", () => {
  const baseline = baselineOf(place("mail", "/home/store/mail@1", finding("a.b", "curl x")));
  const applied = applyBaseline(baseline, [place("mail", "/home/store/mail@2", finding("a.b", "curl x"))]);
  expect(applied.accepted).toBe(1);
});

test("entries that no longer apply are reported, but not those of skills that were not scanned", () => {
  const baseline = baselineOf(
    place("mail", "/work/mail", finding("a.b", "curl x")),
    place("post", "/work/post", finding("a.b", "curl x")),
  );
  const { stale } = applyBaseline(baseline, [place("mail", "/work/mail")]);
  expect(stale).toMatchObject([{ skill: "mail", folder: "mail", id: "a.b" }]);
});

test("the same findings give the same bytes", () => {
  const skills = [
    place("b", "/work/b", finding("a.b", "x"), finding("a.a", "y")),
    place("a", "/work/a", finding("a.b", "x")),
  ];
  expect(renderBaseline(FILE, skills.toReversed())).toBe(renderBaseline(FILE, skills));
});

test.each([
  ["no JSON", "{", /is not valid JSON/],
  ["another version", '{"version": 2, "accepted": []}', /has version 2; only version 1 is supported/],
  ["no list", '{"version": 1}', /has no `accepted` list/],
  ["a wrong entry", '{"version": 1, "accepted": [{"skill": 1}]}', /has no `accepted` list/],
])("a file with %s is refused", (_, text, message) => {
  const reading = readBaseline(FILE, text);
  expect(reading).toMatchObject({ ok: false, refusal: { message: expect.stringMatching(message) } });
});
