/** Kept evaluations of the server's skills: iterations over time, a single one, and the files its runs left. */
import { listOf, NUMBER_FIELD, objectOf, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { refuse } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";

const GROUP = "evals";
const spread = objectOf({ mean: NUMBER_FIELD, stddev: NUMBER_FIELD });
const iterationSchema = objectOf(
  {
    number: NUMBER_FIELD,
    at: TIME_FIELD,
    model: TEXT_FIELD,
    digest: TEXT_FIELD,
    runs: NUMBER_FIELD,
    passRate: spread,
    baseline: spread,
    cost: NUMBER_FIELD,
    ungraded: NUMBER_FIELD,
  },
  ["number", "at", "model", "runs", "passRate", "ungraded"],
);

/** `-1`: no iteration has that number. */
function numberOf(text: string): number {
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) : -1;
}

const listEvals = defineRoute({
  method: "GET",
  path: "/v1/evals",
  scope: "read",
  group: GROUP,
  summary: "List evaluated skills, each with its iterations, oldest first.",
  answers: {
    200: {
      about: "Evaluated skills.",
      schema: listOf(objectOf({ skill: TEXT_FIELD, iterations: { type: "array", items: iterationSchema } })),
    },
  },
  async handle({ identity }, { insight }) {
    return replyWith({ data: await (await insight.open(identity.tenant)).evals() });
  },
});

const readIteration = defineRoute({
  method: "GET",
  path: "/v1/evals/{skill}/{number}",
  scope: "read",
  group: GROUP,
  summary: "Get one iteration of an evaluation: every run, its grades, and both arms compared.",
  answers: {
    200: {
      about: "The benchmark.",
      schema: objectOf(
        {
          skill: TEXT_FIELD,
          number: NUMBER_FIELD,
          benchmark: { type: "object" },
          triggers: { type: "object" },
          evals: { type: "array", items: objectOf({ id: TEXT_FIELD, name: TEXT_FIELD, prompt: TEXT_FIELD }) },
        },
        ["skill", "number"],
      ),
    },
  },
  async handle({ identity, param }, { insight }) {
    const number = numberOf(param("number"));
    const found = await (await insight.open(identity.tenant)).iteration(param("skill"), number);
    if (found !== undefined) return replyWith(found);
    return refuse(404, "not_found", "No such iteration.", "`GET /v1/evals` lists every iteration.");
  },
});

const readOutput = defineRoute({
  method: "GET",
  path: "/v1/evals/{skill}/{number}/outputs/{path*}",
  scope: "read",
  group: GROUP,
  summary: "Read a text file that an evaluation run left, up to 256 KB.",
  answers: {
    200: {
      about: "The text; absent if the file is not text.",
      schema: objectOf(
        { path: TEXT_FIELD, size: NUMBER_FIELD, text: TEXT_FIELD, isCut: { type: "boolean" } },
        ["path", "size", "isCut"],
      ),
    },
  },
  async handle({ identity, param }, { insight }) {
    const skills = await insight.open(identity.tenant);
    const file = await skills.output(param("skill"), numberOf(param("number")), param("path"));
    if (file !== undefined) return replyWith(file);
    const hint = "`outputs` of each run in `GET /v1/evals/{skill}/{number}` lists its files.";
    return refuse(404, "file_not_found", "The iteration has no such file.", hint);
  },
});

export const EVAL_ROUTES: readonly ServiceRoute[] = [listEvals, readIteration, readOutput];
