/** Why a skill was found: the parts of its score, and the words it lacks. */
import { buildFinder } from "@metier/skills";
import fc from "fast-check";
import { expect, test } from "vitest";

const DOCUMENTS = [
  {
    name: "deploy-site",
    description: "Deploys a static site to a bucket.",
    tags: ["hosting"],
    body: "# Deploy\n\nCheck the bucket first.\n\n```\ndeploy --bucket\n```\n",
    location: "/skills/deploy-site/SKILL.md",
  },
  {
    name: "release-notes",
    description: "Writes release notes from commits.",
    body: "Read the commits, then write the notes for the site.",
    location: "/skills/release-notes/SKILL.md",
  },
  { name: "invoice", description: "Reads invoices and sums them up.", body: "", location: "" },
];

test("a word tells in which parts of the skill it stands, and what the skill lacks is named", () => {
  const finder = buildFinder(DOCUMENTS);
  const hits = finder.find("deploy the static site to Kubernetes");
  const [first] = finder.explain("deploy the static site to Kubernetes", hits);
  expect(hits[0]?.name).toBe("deploy-site");
  expect(first?.missing).toEqual(["kubernetes"]);
  const parts = Object.fromEntries(first?.parts.map((part) => [part.words.join(" "), part.parts]) ?? []);
  expect(parts).toEqual({
    deploy: ["name", "about", "headings", "code"],
    "deploy static": ["about"],
    static: ["about"],
    site: ["name", "about"],
    "static site": ["about"],
  });
});

test("a word in another inflection, or with a typing error, is told by the word that was asked for", () => {
  const finder = buildFinder(DOCUMENTS);
  const query = "deploying deploys invioces";
  expect(finder.wordsOf(query)).toEqual(["deploying", "invioces"]);
  const [deploy, invoice] = ["deploy-site", "invoice"].map((name) => {
    const hit = finder.find(query).find((found) => found.name === name);
    return hit && finder.explain(query, [hit])[0];
  });
  expect(deploy?.missing).toEqual(["invioces"]);
  expect(invoice?.parts.map(({ words }) => words)).toEqual([["invioces"]]);
});

test("the parts add up to the score, whatever is asked and whatever is there", () => {
  const word = fc.constantFrom(
    "deploy",
    "deploys",
    "site",
    "notes",
    "Commit",
    "bucket",
    "bukcet",
    "write",
    "sums",
    "the",
    "HTTPRequest",
  );
  const text = fc.array(word, { maxLength: 12 }).map((words) => words.join(" "));
  const document = fc.record({
    name: word,
    description: text,
    tags: fc.array(word, { maxLength: 3 }),
    body: text,
  });
  fc.assert(
    fc.property(fc.array(document, { maxLength: 8 }), text, (documents, query) => {
      const finder = buildFinder(documents.map((one, index) => ({ ...one, location: `/${index}` })));
      const hits = finder.find(query, 20);
      for (const [index, explanation] of finder.explain(query, hits).entries()) {
        expect(explanation.score).toBeCloseTo(hits[index]?.score ?? 0, 9);
        const told = new Set([...explanation.parts.flatMap(({ words }) => words), ...explanation.missing]);
        expect(finder.wordsOf(query).every((asked) => told.has(asked))).toBe(true);
      }
    }),
    { numRuns: 300 },
  );
});
