import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildFinder } from "../../src/find/build-finder.ts";
import type { FindDocument } from "../../src/find/token-store.ts";

function document(name: string, description: string, rest: Partial<FindDocument> = {}): FindDocument {
  return { name, description, body: "", location: `/skills/${name}/SKILL.md`, ...rest };
}

const SKILLS: readonly FindDocument[] = [
  document("pdf-forms", "Fills in PDF forms.", { body: "Read the fields, then write them." }),
  document("release-notes", "Writes release notes from commits.", {
    body: "# Changelog\n\nGroup the commits by kind.\n\n```sh\nterraform plan\n```",
  }),
  document("terraform", "Plans infrastructure.", { tags: ["cloud"], whenToUse: "Before an apply." }),
  document("invoice-check", "Checks invoices against orders.", { body: "Compare the totals of each order." }),
  document("GitHubTriage", "Sorts incoming reports.", { body: "Label each issue." }),
];

function namesFor(query: string, skills: readonly FindDocument[] = SKILLS): readonly string[] {
  return buildFinder(skills)
    .find(query)
    .map(({ name }) => name);
}

describe("find", () => {
  test.each([
    ["fill a form", "pdf-forms"],
    ["checking an invoice", "invoice-check"],
    ["group my commits", "release-notes"],
    ["changelogs", "release-notes"],
    ["cloud", "terraform"],
    ["applying", "terraform"],
    ["git hub", "GitHubTriage"],
    ["githubtriage", "GitHubTriage"],
  ])("`%s` finds `%s`: every part is searched, in any inflection", (query, name) => {
    expect(namesFor(query)[0]).toBe(name);
  });

  test("a word in the name counts more than one in a code block", () => {
    expect(namesFor("terraform plan")).toEqual(["terraform", "release-notes"]);
  });

  test("two words that stand together count more than the same words apart", () => {
    const skills = [
      document("a", "A request to merge, or to pull."),
      document("b", "Any text: pull request, merge."),
      document("c", "Something else."),
    ];
    expect(namesFor("pull request", skills)).toEqual(["b", "a"]);
  });

  test("a mistyped word finds what was meant", () => {
    expect(namesFor("terrafrom")[0]).toBe("terraform");
    expect(namesFor("invoce")[0]).toBe("invoice-check");
  });

  test("a compound that no skill has is asked for by its parts", () => {
    expect(namesFor("fillPdfForms")[0]).toBe("pdf-forms");
  });

  test("nothing is found for nothing, for stop words and for unknown words", () => {
    expect(namesFor("")).toEqual([]);
    expect(namesFor("what should I do with it?")).toEqual([]);
    expect(namesFor("zzzzzz")).toEqual([]);
    expect(namesFor("pdf", [])).toEqual([]);
  });

  test("gives the k best, with score and location", () => {
    const finder = buildFinder(SKILLS);
    const [first, ...others] = finder.find("commits orders forms", 2);
    expect(finder.size).toBe(SKILLS.length);
    expect(others).toHaveLength(1);
    expect(first?.score).toBeGreaterThan(0);
    expect(first?.location).toBe(`/skills/${first?.name}/SKILL.md`);
    expect(finder.find("commits", 0)).toEqual([]);
    expect(finder.find("commits orders", 1e9)).toHaveLength(2);
  });

  test("equal scores are in the order of names, then of locations", () => {
    const skills = ["c", "a", "b"].map((name) => document(name, "Draws maps."));
    const twin = document("a", "Draws maps.", { location: "/another/a.md" });
    expect(namesFor("map", skills)).toEqual(["a", "b", "c"]);
    const hits = buildFinder([...skills, twin]).find("map", 2);
    expect(hits.map(({ location }) => location)).toEqual(["/another/a.md", "/skills/a/SKILL.md"]);
  });

  test("the order of the skills does not matter, whatever they say", () => {
    const word = fc.constantFrom(
      "map",
      "maps",
      "chart",
      "the",
      "drawing",
      "Ünïcode",
      "图",
      "getMap",
      "#",
      "\n",
    );
    const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
    const skill = fc.record({ name: word, description: text, body: text, location: fc.uuid() });
    fc.assert(
      fc.property(fc.array(skill, { maxLength: 12 }), text, (skills, query) => {
        expect(buildFinder(skills.toReversed()).find(query)).toEqual(buildFinder(skills).find(query));
      }),
      { numRuns: 200 },
    );
  });

  test("a huge body and a huge query are cut, not refused", () => {
    const skills = [...SKILLS, document("huge", "Long.", { body: "filler words here ".repeat(50_000) })];
    expect(namesFor(`forms ${"filler ".repeat(100_000)}`, skills)).toEqual(["huge", "pdf-forms"]);
  });

  test("a word that stands only in what was cut off counts as unknown", () => {
    const body = `${"filler words ".repeat(20_000)} invoce`;
    expect(namesFor("invoce", [...SKILLS, document("huge", "Long.", { body })])).toEqual(["invoice-check"]);
  });
});
