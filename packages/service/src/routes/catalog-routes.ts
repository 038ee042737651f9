/**
 * The catalog for viewers: all skills with their status and reason, a search that explains its results, and a skill's
 * page.
 */
import { tableShape } from "@metier/base/shape";
import { boundedText, listOf, NUMBER_FIELD, numberText, objectOf, TEXT_FIELD } from "../http/query-shapes.ts";
import { refuse, refuseMissing } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";

const GROUP = "catalog";
const DEFAULT_HITS = 20;
const DEFAULT_BUDGET = 4_000;
const MOST_BUDGET = 10_000_000;
const TRUE_OR_FALSE = { type: "boolean" } as const;
const TEXT_LIST = { type: "array", items: TEXT_FIELD } as const;

const summaryFields = {
  address: TEXT_FIELD,
  name: TEXT_FIELD,
  description: TEXT_FIELD,
  scope: TEXT_FIELD,
  source: { enum: ["server", "upload"] },
  status: { enum: ["enabled", "disabled", "unavailable", "shadowed", "invalid"] },
  reason: TEXT_FIELD,
  trust: { enum: ["trusted", "untrusted"] },
  trustReason: TEXT_FIELD,
  isForUsers: TRUE_OR_FALSE,
  isForModels: TRUE_OR_FALSE,
  listingTokens: NUMBER_FIELD,
  bodyTokens: NUMBER_FIELD,
  errors: NUMBER_FIELD,
  warnings: NUMBER_FIELD,
  tags: TEXT_LIST,
};
const summaryNeeds = Object.keys(summaryFields).filter((name) => name !== "reason");
const objects = { type: "array", items: { type: "object" } } as const;
const pageFields = {
  ...summaryFields,
  displayName: TEXT_FIELD,
  instructions: TEXT_FIELD,
  manifest: objects,
  files: { type: "array", items: objectOf({ path: TEXT_FIELD, size: NUMBER_FIELD, kind: TEXT_FIELD }) },
  digest: TEXT_FIELD,
  grants: objects,
  versions: objects,
  clients: objects,
  diagnostics: objects,
  findings: objects,
  tests: objects,
  shadows: TEXT_LIST,
  shadowedBy: TEXT_FIELD,
  capabilities: objects,
  inputSchema: { type: "object" },
  arguments: TEXT_LIST,
};
const pageOptional: ReadonlySet<string> = new Set([
  "reason",
  "displayName",
  "digest",
  "shadowedBy",
  "inputSchema",
]);
const pageNeeds = Object.keys(pageFields).filter((name) => !pageOptional.has(name));
const hitSchema = objectOf({
  name: TEXT_FIELD,
  description: TEXT_FIELD,
  score: NUMBER_FIELD,
  words: {
    type: "array",
    items: objectOf({ word: TEXT_FIELD, fields: TEXT_LIST, share: NUMBER_FIELD }),
  },
  missing: TEXT_LIST,
});

const readPinnedCatalog = defineRoute({
  method: "GET",
  path: "/v1/catalog",
  scope: "read",
  group: GROUP,
  summary: "List every skill with its status and the reason for it, including files that cannot be loaded.",
  answers: { 200: { about: "All skills, by name.", schema: listOf(objectOf(summaryFields, summaryNeeds)) } },
  handle: async ({ identity }, { insight }) => replyWith((await insight.open(identity.tenant)).catalog),
});

interface FindQuery {
  readonly q: string;
  readonly limit?: number;
}

const findInCatalog = defineRoute<FindQuery>({
  method: "GET",
  path: "/v1/catalog/find",
  scope: "read",
  group: GROUP,
  summary:
    "Rank skills for a request, as `metier find` does, with the words that matched and those that are missing.",
  query: tableShape<FindQuery>({ q: boundedText(10_000), limit: numberText(1, 200) }, ["q"]),
  answers: { 200: { about: "Best first.", schema: listOf(hitSchema) } },
  async handle({ query: { q, limit = DEFAULT_HITS }, identity }, { insight }) {
    return replyWith(await (await insight.open(identity.tenant)).find(q, limit));
  },
});

interface ListingQuery {
  readonly budget?: number;
}

const readListing = defineRoute<ListingQuery>({
  method: "GET",
  path: "/v1/catalog/listing",
  scope: "read",
  group: GROUP,
  summary: "Show what a model would be told about the skills within a token budget.",
  query: tableShape<ListingQuery>({ budget: numberText(1, MOST_BUDGET) }),
  answers: {
    200: {
      about: "The text, and how each skill is listed in it.",
      schema: objectOf({
        text: TEXT_FIELD,
        budget: NUMBER_FIELD,
        tokens: NUMBER_FIELD,
        fits: TRUE_OR_FALSE,
        full: TEXT_LIST,
        shortened: TEXT_LIST,
        nameOnly: TEXT_LIST,
        counted: TEXT_LIST,
      }),
    },
  },
  async handle({ query: { budget = DEFAULT_BUDGET }, identity }, { insight }) {
    return replyWith(await (await insight.open(identity.tenant)).listing(budget));
  },
});

const readSkillPage = defineRoute({
  method: "GET",
  path: "/v1/catalog/skills/{address}",
  scope: "read",
  group: GROUP,
  summary: "Get everything about a skill: instructions, fields, files, versions, trust, findings.",
  answers: { 200: { about: "The skill.", schema: objectOf(pageFields, pageNeeds) } },
  async handle({ identity, param }, { insight }) {
    const skill = await (await insight.open(identity.tenant)).skill(param("address"));
    return skill === undefined ? refuseMissing("skill", param("address"), "/v1/catalog") : replyWith(skill);
  },
});

const readSkillText = defineRoute({
  method: "GET",
  path: "/v1/catalog/skills/{address}/files/{path*}",
  scope: "read",
  group: GROUP,
  summary: "Read a text file of a skill, up to 256 KB.",
  answers: {
    200: {
      about: "The text; absent if the file is not text.",
      schema: objectOf({ path: TEXT_FIELD, size: NUMBER_FIELD, text: TEXT_FIELD, isCut: TRUE_OR_FALSE }, [
        "path",
        "size",
        "isCut",
      ]),
    },
  },
  async handle({ identity, param }, { insight }) {
    const file = await (await insight.open(identity.tenant)).file(param("address"), param("path"));
    if (file !== undefined) return replyWith(file);
    const hint = "`GET /v1/catalog/skills/{address}` lists its files.";
    return refuse(404, "file_not_found", "The skill has no such file.", hint);
  },
});

interface DiffQuery {
  readonly from: string;
  readonly to: string;
}

const compareSkillVersions = defineRoute<DiffQuery>({
  method: "GET",
  path: "/v1/catalog/skills/{address}/diff",
  scope: "read",
  group: GROUP,
  summary: "Compare two versions of a skill, with scan findings on the new lines.",
  query: tableShape<DiffQuery>({ from: boundedText(128, 1), to: boundedText(128, 1) }, ["from", "to"]),
  answers: {
    200: {
      about: "The files that differ; files that are not text have no lines.",
      schema: objectOf({ from: TEXT_FIELD, to: TEXT_FIELD, files: objects }),
    },
  },
  async handle({ query: { from, to }, identity, param }, { insight }) {
    const compared = await (await insight.open(identity.tenant)).diff(param("address"), from, to);
    return compared.ok ? replyWith(compared.value) : compared;
  },
});

export const CATALOG_ROUTES: readonly ServiceRoute[] = [
  readPinnedCatalog,
  findInCatalog,
  readListing,
  readSkillPage,
  readSkillText,
  compareSkillVersions,
];
