/** Which skill a request would go to by descriptions alone: which are confused, and what would make one win. */
import { tableShape } from "@metier/base/shape";
import { boundedText, NUMBER_FIELD, objectOf, TEXT_FIELD } from "../http/query-shapes.ts";
import { refuseMissing } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";

const GROUP = "routing";
const objects = { type: "array", items: { type: "object" } } as const;

const readRouting = defineRoute({
  method: "GET",
  path: "/v1/routing",
  scope: "read",
  group: GROUP,
  summary: "Compare the descriptions of all usable skills.",
  answers: {
    200: {
      about: "Pairs that could be confused, worst first; with up to 60 skills, the whole matrix.",
      schema: objectOf(
        {
          names: { type: "array", items: TEXT_FIELD },
          matrix: { type: "array", items: { type: "array", items: NUMBER_FIELD } },
          pairs: objects,
          mostCompared: NUMBER_FIELD,
        },
        ["names", "pairs"],
      ),
    },
  },
  handle: async ({ identity }, { insight }) =>
    replyWith(await (await insight.open(identity.tenant)).routing()),
});

interface WhyQuery {
  readonly q: string;
  readonly skill: string;
}

const explainRoute = defineRoute<WhyQuery>({
  method: "GET",
  path: "/v1/routing/why",
  scope: "read",
  group: GROUP,
  summary: "Show a skill's rank for a request, and which words would make it win.",
  query: tableShape<WhyQuery>({ q: boundedText(10_000), skill: boundedText(256, 1) }, ["q", "skill"]),
  answers: {
    200: {
      about: "The skill's rank, the winner, and the missing words.",
      schema: objectOf(
        {
          skill: TEXT_FIELD,
          rank: NUMBER_FIELD,
          winner: { type: "object" },
          hit: { type: "object" },
          lacks: { type: "array", items: objectOf({ word: TEXT_FIELD, gain: NUMBER_FIELD }) },
        },
        ["skill", "lacks"],
      ),
    },
  },
  async handle({ query: { q, skill }, identity }, { insight }) {
    const why = await (await insight.open(identity.tenant)).why(q, skill);
    return why === undefined ? refuseMissing("usable skill", skill, "/v1/catalog") : replyWith(why);
  },
});

export const ROUTING_ROUTES: readonly ServiceRoute[] = [readRouting, explainRoute];
