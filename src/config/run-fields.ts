/** The keys of `[runs]`: what one run may use at most. Part of the table in `config-fields.ts`. */
import type { ConfigField } from "./config-fields.ts";
import { SMALLER, stricterOf } from "./tightening.ts";
import { integer, oneOf, PRICE } from "./value-types.ts";

export const OUTPUT_FILTERS = ["off", "mark", "block"] as const;
export type OutputFilterMode = (typeof OUTPUT_FILTERS)[number];

export const RUN_FIELDS: readonly ConfigField[] = [
  {
    path: "runs.max-iterations",
    type: integer(1, 1000, "steps"),
    description:
      "How often a run may ask its model; a skill's own `max-iterations` may ask for less or more.",
    default: 10,
    project: "tighten",
    tightening: SMALLER,
  },
  {
    path: "runs.timeout-seconds",
    type: integer(1, 86_400, "seconds"),
    description: "How long a run may take.",
    default: 600,
    project: "tighten",
    tightening: SMALLER,
  },
  {
    path: "runs.max-tokens",
    type: integer(1, 1_000_000_000, "tokens"),
    description: "How many tokens a run may use, with the runs it starts; without it there is no such limit.",
    project: "tighten",
    tightening: SMALLER,
  },
  {
    path: "runs.max-cost",
    type: PRICE,
    description: "What a run may cost, by `input-price` and `output-price` of its model.",
    project: "tighten",
    tightening: SMALLER,
  },
  {
    path: "runs.max-output-bytes",
    type: integer(1, 1_000_000_000, "bytes"),
    description: "How much a run's model may write, with its reasoning and the input of its tool calls.",
    default: 1_000_000,
    project: "tighten",
    tightening: SMALLER,
  },
  {
    path: "runs.max-depth",
    type: integer(1, 10, "runs"),
    description: "How deep skills may start one another.",
    default: 3,
    project: "tighten",
    tightening: SMALLER,
  },
  {
    path: "runs.output-filter",
    type: oneOf(...OUTPUT_FILTERS),
    description:
      "What becomes of a tool's output that reads like instructions: `mark` it as data, `block` it, or `off`.",
    default: "mark",
    project: "tighten",
    tightening: stricterOf(...OUTPUT_FILTERS),
  },
];
