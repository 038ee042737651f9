import { expect, test } from "vitest";
import {
  filterSkills,
  indexSkills,
  listScopes,
  readCatalogFilter,
} from "../../src/page/catalog/filter-skills.ts";
import { catalogAnswer, makeCatalogSkill } from "../support/answers.ts";

const searchable = indexSkills(catalogAnswer.data);

function addressesFor(query: Readonly<Record<string, string>>): readonly string[] {
  const filter = readCatalogFilter(new Map(Object.entries(query)));
  return filterSkills(searchable, filter).rows.map(({ address }) => address);
}

test("without a filter every skill is shown, in the order of the catalog", () => {
  expect(addressesFor({})).toEqual(catalogAnswer.data.map(({ address }) => address));
});

test("all words must stand somewhere in a skill, in any order and case", () => {
  expect(addressesFor({ q: "Schema  DATABASE" })).toEqual(["installed:zero-downtime-migrations"]);
  expect(addressesFor({ q: "database invoice" })).toEqual([]);
});

test("the search finds a skill by the reason why it cannot be used, and by its tags", () => {
  expect(addressesFor({ q: "kubectl" })).toEqual(["project:deploy"]);
  expect(addressesFor({ q: "review" })).toEqual(["project:api-review"]);
});

test("filters hold together", () => {
  expect(addressesFor({ trust: "untrusted", problems: "yes" })).toEqual([
    "installed:invoice-reader",
    "project:sql-helper",
  ]);
  expect(addressesFor({ scope: "user", status: "disabled" })).toEqual(["user:meeting-summary"]);
  expect(addressesFor({ for: "models", q: "deploys" })).toEqual([]);
  expect(addressesFor({ for: "users", q: "deploys" })).toEqual(["project:deploy"]);
});

test("words in the address that no filter knows count as not given", () => {
  expect(addressesFor({ status: "gone", trust: "maybe", for: "cats", sort: "color" })).toHaveLength(
    catalogAnswer.data.length,
  );
});

test("the counts of each status leave out what the other filters leave out, but not the status", () => {
  const filter = readCatalogFilter(
    new Map([
      ["status", "shadowed"],
      ["q", "release"],
    ]),
  );
  const { rows, counts } = filterSkills(searchable, filter);
  expect(rows.map(({ status }) => status)).toEqual(["shadowed"]);
  expect(counts).toEqual({ enabled: 1, unavailable: 0, disabled: 0, shadowed: 1, invalid: 0 });
});

test("one error comes before any number of warnings", () => {
  const skills = indexSkills([
    makeCatalogSkill({ name: "clean" }),
    makeCatalogSkill({ name: "warned", warnings: 90 }),
    makeCatalogSkill({ name: "broken", errors: 1 }),
  ]);
  const filter = readCatalogFilter(new Map([["sort", "problems"]]));
  expect(filterSkills(skills, filter).rows.map(({ name }) => name)).toEqual(["broken", "warned", "clean"]);
});

test("the most expensive skills come first where that is asked for", () => {
  expect(addressesFor({ sort: "tokens" }).slice(0, 2)).toEqual([
    "installed:invoice-reader",
    "installed:zero-downtime-migrations",
  ]);
});

test("each scope is offered once", () => {
  expect(listScopes(catalogAnswer.data)).toEqual(["bundled", "installed", "project", "user"]);
});
