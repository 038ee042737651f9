/** The keys of `[capabilities]`: who performs operations on sensitive systems, and how often. Part of `config-fields.ts`. */
import type { ConfigField } from "./config-fields.ts";
import { onlyTo, SMALLER } from "./tightening.ts";
import { BOOLEAN, ENVIRONMENT_VALUE, integer, MCP_SERVER, PROGRAM, TEXT } from "./value-types.ts";

/** The same keys under `[capabilities.providers.<provider>]` and, weaker, `[skills.<skill>.capability-provider]`. */
function providerFields(parent: string): readonly ConfigField[] {
  return [
    {
      path: `${parent}.enabled`,
      type: BOOLEAN,
      description: "Whether the provider is used.",
      project: "tighten",
      tightening: onlyTo(false),
    },
    {
      path: `${parent}.namespace`,
      type: TEXT,
      description: "The first part of the ids of its capabilities; by default its own name.",
      project: "ignore",
    },
    {
      path: `${parent}.command`,
      type: PROGRAM,
      description: "The program that performs its operations, a bridge.",
      project: "ignore",
    },
    {
      path: `${parent}.persistent`,
      type: BOOLEAN,
      description: "Whether one process of the bridge answers many calls; by default each call has its own.",
      project: "ignore",
    },
    {
      path: `${parent}.mcp`,
      type: MCP_SERVER,
      description: "An MCP server whose tools become its operations, instead of a bridge.",
      project: "ignore",
    },
    {
      path: `${parent}.timeout-seconds`,
      type: integer(1, 300, "seconds"),
      description: "How long one operation may take; by default 30.",
      project: "tighten",
      tightening: SMALLER,
    },
    {
      path: `${parent}.env.<VARIABLE>`,
      type: ENVIRONMENT_VALUE,
      description: "A variable of its process, in UPPER_CASE.",
      project: "never",
      secret: true,
    },
  ];
}

/** `[capabilities.providers]` overrules these, so a limit set here would not hold: they cannot tighten. */
export const SKILL_PROVIDER_FIELDS: readonly ConfigField[] = providerFields(
  "skills.<skill>.capability-provider",
).map(({ tightening, project, ...field }) => ({
  ...field,
  project: project === "never" ? "never" : "ignore",
}));

export const CAPABILITY_FIELDS: readonly ConfigField[] = [
  ...providerFields("capabilities.providers.<provider>"),
  {
    path: "capabilities.rate-limit",
    type: integer(1, 10_000, "calls"),
    description: "How often a minute each user may call each capability.",
    default: 60,
    project: "tighten",
    tightening: SMALLER,
  },
];
