/**
 * The keys of `[models]`, `[capabilities]` and `[mcp]`: which services Metier uses, how it reaches them, and how often.
 */
import {
  type CapabilitiesConfig,
  type CapabilityProviderConfig,
  type EnvironmentValue,
  type McpServerConfig,
  MODEL_PROVIDERS,
  type ModelConfig,
} from "./config.ts";
import { type ConfigField, fieldsOf, onlyTo, SMALLER } from "./config-field.ts";
import {
  BOOLEAN,
  COMMAND,
  ENVIRONMENT_VALUE,
  integer,
  MCP_SERVER,
  oneOf,
  PRICE,
  PROGRAM,
  SERVER_ADDRESS,
  TEXT,
} from "./value-types.ts";

/** A process's variables, in its table. */
type Variables = Readonly<Record<string, EnvironmentValue>>;

export const MODEL_FIELDS: readonly ConfigField[] = fieldsOf<ModelConfig>("models.<alias>", {
  provider: { type: oneOf(...MODEL_PROVIDERS), description: "The model provider." },
  model: { type: TEXT, description: "The provider's name for the model." },
  "base-url": { type: TEXT, description: "A URL to use instead of the provider's own." },
  "api-key-env": {
    type: TEXT,
    description: "The environment variable that holds the key.",
    project: "never",
  },
  "api-key": { type: TEXT, description: "The key itself.", project: "never", secret: true },
  "api-key-command": { type: COMMAND, description: "A command that prints the key.", project: "never" },
  "input-price": {
    type: PRICE,
    description: "The price of a million input tokens; default: the list price that Metier knows.",
  },
  "output-price": { type: PRICE, description: "The price of a million output tokens, in the same currency." },
  lean: {
    type: BOOLEAN,
    description:
      "Send fewer tools with shorter descriptions, for small local models; on by default for `ollama` and `gguf`.",
  },
  path: {
    type: TEXT,
    description: "For `gguf`: the file, as an absolute path or one that starts with `~/`.",
    project: "never",
  },
  package: {
    type: TEXT,
    description:
      "For `gguf`: the absolute path of the package `node-llama-cpp`, if it is not installed next to Metier.",
    project: "never",
  },
  program: {
    type: TEXT,
    description: "For `claude-program`: the absolute path of your `claude` program.",
    project: "never",
  },
  "accepted-terms": {
    type: TEXT,
    description: "For `claude-program`: the day you accepted its vendor's terms; written by `metier init`.",
    project: "never",
  },
  "context-tokens": {
    type: integer(2_048, 1_048_576, "tokens"),
    description:
      "For `ollama` and `gguf`: the largest context to use (default: 32768, or the model's own if smaller).",
  },
});

/**
 * The same keys under `[capabilities.providers.<provider>]` and, with lower precedence,
 * `[skills.<skill>.capability-provider]`.
 */
export function providerFields(parent: string): readonly ConfigField[] {
  return [
    ...fieldsOf<Omit<CapabilityProviderConfig, "env">>(parent, {
      enabled: { type: BOOLEAN, description: "Whether to use the provider.", tightening: onlyTo(false) },
      namespace: {
        type: TEXT,
        description: "The first part of its capability ids; default: the provider's name.",
      },
      command: { type: PROGRAM, description: "The program that performs its operations (a bridge)." },
      persistent: {
        type: BOOLEAN,
        description: "Whether one bridge process answers many calls; by default each call starts one.",
      },
      mcp: {
        type: MCP_SERVER,
        description: "An MCP server whose tools become its operations, instead of a bridge.",
      },
      "timeout-seconds": {
        type: integer(1, 300, "seconds"),
        description: "How long one operation may take; default: 30.",
        tightening: SMALLER,
      },
    }),
    ...fieldsOf<Variables>(`${parent}.env`, {
      "<VARIABLE>": {
        type: ENVIRONMENT_VALUE,
        description: "A variable for its process, in UPPER_CASE.",
        project: "never",
        secret: true,
      },
    }),
  ];
}

export const CAPABILITY_FIELDS: readonly ConfigField[] = [
  ...providerFields("capabilities.providers.<provider>"),
  ...fieldsOf<Omit<CapabilitiesConfig, "providers">>("capabilities", {
    "rate-limit": {
      type: integer(1, 10_000, "calls"),
      description: "How many times per minute each user may call each capability.",
      default: 60,
      tightening: SMALLER,
    },
  }),
];

/** A project cannot add a server, even if granted: what a server says goes to the model. */
export const MCP_FIELDS: readonly ConfigField[] = [
  ...fieldsOf<Omit<McpServerConfig, "env">>("mcp.servers.<server>", {
    enabled: {
      type: BOOLEAN,
      description: "Whether to offer the server's skills; default: true.",
      tightening: onlyTo(false),
    },
    command: {
      type: PROGRAM,
      description: "The server program, which talks over standard input and output.",
      project: "never",
    },
    url: {
      type: SERVER_ADDRESS,
      description: "The URL of a running server, instead of a program.",
      project: "never",
    },
    bearer: {
      type: ENVIRONMENT_VALUE,
      description: "The token to send to a server with a URL.",
      project: "never",
      secret: true,
    },
    "timeout-seconds": {
      type: integer(1, 300, "seconds"),
      description: "How long one answer of the server may take; default: 30.",
      tightening: SMALLER,
    },
  }),
  ...fieldsOf<Variables>("mcp.servers.<server>.env", {
    "<VARIABLE>": {
      type: ENVIRONMENT_VALUE,
      description: "A variable for the server's process, in UPPER_CASE.",
      project: "never",
      secret: true,
    },
  }),
];
