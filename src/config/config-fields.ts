/**
 * Every config key, once: its type, its default, its other names, and who may set it. Loading, the environment,
 * edits, `config --explain` and the reference page are all made from this table; nothing else names a key.
 */
import { SCOPES } from "../skill/scope.ts";
import { CAPABILITY_FIELDS, SKILL_PROVIDER_FIELDS } from "./capability-fields.ts";
import { MODEL_PROVIDERS, PRESETS } from "./config.ts";
import { ENVIRONMENT_FIELDS } from "./environment-fields.ts";
import { MCP_FIELDS } from "./mcp-fields.ts";
import { RUN_FIELDS } from "./run-fields.ts";
import { reachFields, SANDBOX_FIELDS } from "./sandbox-fields.ts";
import { SCAN_FIELDS } from "./scan-fields.ts";
import {
  COMMON_CHATS,
  COMMON_FOLDERS,
  FURTHER_LIST,
  onlyTo,
  SMALLER,
  stricterOf,
  type Tightening,
  UNION,
} from "./tightening.ts";
import {
  ALLOW_LISTS,
  BOOLEAN,
  COMMAND,
  ENVIRONMENT_VALUE,
  integer,
  oneOf,
  PATH,
  PATHS,
  PLUGINS,
  PRICE,
  PROJECT_PATHS,
  SCOPE_ORDER,
  TEXT,
  TEXTS,
  type ValueType,
} from "./value-types.ts";

export interface ConfigField {
  /** Dotted, kebab-case; `<…>` stands for a name of the user's choosing. */
  readonly path: string;
  readonly type: ValueType;
  readonly description: string;
  readonly default?: unknown;
  /** Other names for the last part of the path, kebab-case: what the systems behind the presets call it. */
  readonly aliases?: readonly string[];
  /**
   * What a project file may do with it before it is granted. `tighten`: as `tightening` says; `ignore`: nothing;
   * `never`: nothing, granted or not, because it is a credential, fetches one, or is a server of the user's.
   */
  readonly project: "tighten" | "ignore" | "never";
  /** How the policy combines it with what users set. Without one the policy cannot set it. */
  readonly tightening?: Tightening;
  /** Shown as `••••`. A variable of a skill's environment says itself whether it is secret. */
  readonly secret?: true;
  /** The key whose value holds where this one is not set. */
  readonly inherits?: string;
  /** Keys whose policy narrows this one too. */
  readonly heldBy?: readonly string[];
}

const SKILLS: readonly ConfigField[] = [
  {
    path: "skills.paths",
    type: PATHS,
    description: "Skill folders, or folders of skills, of your own choosing.",
    default: [],
    aliases: ["custom-paths", "skills-dir"],
    project: "ignore",
    tightening: COMMON_FOLDERS,
  },
  {
    path: "skills.trusted-paths",
    type: PATHS,
    description: "Folders whose skills are trusted, with everything below them.",
    default: [],
    project: "ignore",
    tightening: COMMON_FOLDERS,
  },
  {
    path: "skills.preset",
    type: oneOf(...PRESETS),
    description: "Directories, order and config files of another system.",
    project: "ignore",
  },
  {
    path: "skills.disabled",
    type: TEXTS,
    description: "Skills that are not used, by name or glob.",
    default: [],
    project: "tighten",
    tightening: UNION,
  },
  {
    path: "skills.allow",
    type: ALLOW_LISTS,
    description: "The only skills that are used, by name or glob; empty means all.",
    default: [],
    project: "tighten",
    tightening: FURTHER_LIST,
  },
  {
    path: "skills.deny",
    type: TEXTS,
    description: "Skills that are not used even when `skills.allow` names them.",
    default: [],
    project: "tighten",
    tightening: UNION,
  },
  {
    path: "skills.order",
    type: SCOPE_ORDER,
    description: "Scopes, lowest precedence first.",
    default: SCOPES,
    project: "ignore",
  },
  {
    path: "skills.auto-discover",
    type: BOOLEAN,
    description: "Whether the standard directories are searched by themselves; `skills.paths` always are.",
    default: true,
    project: "ignore",
    tightening: onlyTo(false),
  },
  {
    path: "skills.bundled",
    type: BOOLEAN,
    description: "Whether bundled skills are there; by default in the command line, not in the library.",
    project: "tighten",
    tightening: onlyTo(false),
  },
  {
    path: "skills.disabled-bundled",
    type: TEXTS,
    description: "Bundled skills that are not used.",
    default: [],
    project: "tighten",
    tightening: UNION,
  },
  {
    path: "skills.enabled-bundled",
    type: TEXTS,
    description: "The only bundled skills that are used; empty means all.",
    default: [],
    project: "ignore",
  },
  {
    path: "skills.nested",
    type: BOOLEAN,
    description: "Whether a skill below another is a skill of its own.",
    default: false,
    project: "tighten",
    tightening: onlyTo(false),
  },
  {
    path: "skills.namespace-tools",
    type: BOOLEAN,
    description: "Whether a skill's own tools carry its name in front.",
    default: true,
    project: "tighten",
    tightening: onlyTo(true),
  },
  {
    path: "skills.default-execution",
    type: oneOf("auto", "inline", "isolated"),
    description:
      "How a skill that does not say is run; `auto` isolates what only an isolated run can honour.",
    default: "auto",
    project: "tighten",
    tightening: stricterOf("inline", "auto", "isolated"),
  },
  {
    path: "skills.dynamic-context",
    type: BOOLEAN,
    description: "Whether commands in the text of a trusted skill, written !`…`, run before it is shown.",
    default: false,
    project: "ignore",
    tightening: onlyTo(false),
  },
  {
    path: "skills.secret-env",
    type: oneOf("allow", "block"),
    description:
      "Whether skills may declare variables whose names look like secrets: `…_TOKEN`, `…_API_KEY`.",
    default: "allow",
    project: "tighten",
    tightening: stricterOf("allow", "block"),
  },
  {
    path: "skills.script-timeout-ms",
    type: integer(1, 86_400_000, "milliseconds"),
    description: "How long a skill's script may run.",
    default: 60_000,
    aliases: ["script-timeout"],
    project: "tighten",
    tightening: SMALLER,
  },
  {
    path: "skills.project-dirs",
    type: PROJECT_PATHS,
    description: "Project skill directories, lowest precedence first, instead of the preset's.",
    aliases: ["skills-dirs"],
    project: "ignore",
  },
  {
    path: "skills.user-dir",
    type: PATH,
    description: "Your own skill directory, instead of the preset's.",
    aliases: ["user-skills-dir"],
    project: "ignore",
  },
  {
    path: "skills.plugins-dir",
    type: PATH,
    description: "Where installed skills live, instead of the preset's directory.",
    project: "ignore",
  },
  {
    path: "skills.plugins",
    type: PLUGINS,
    description: "Skills installed from repositories; `metier install` installs those that are missing.",
    aliases: ["sources"],
    default: [],
    project: "ignore",
  },
  {
    path: "skills.defaults.allow-chat-ids",
    type: TEXTS,
    description: "The chats in which skills may be used; empty means all.",
    default: [],
    project: "tighten",
    tightening: COMMON_CHATS,
  },
];

const ONE_SKILL: readonly ConfigField[] = [
  {
    path: "skills.<skill>.enabled",
    type: BOOLEAN,
    description: "Whether the skill is used; `true` is what an opt-in skill needs.",
    project: "tighten",
    tightening: onlyTo(false),
  },
  {
    path: "skills.<skill>.model",
    type: TEXT,
    description: "The model it runs with: an alias or a model's name.",
    project: "ignore",
  },
  {
    path: "skills.<skill>.allow-chat-ids",
    type: TEXTS,
    description: "The chats in which it may be used, instead of the default ones; empty means all.",
    project: "tighten",
    tightening: COMMON_CHATS,
    inherits: "skills.defaults.allow-chat-ids",
  },
  ...reachFields("skills.<skill>.sandbox"),
  {
    path: "skills.<skill>.<VARIABLE>",
    type: ENVIRONMENT_VALUE,
    description: "A variable of this skill's environment, in UPPER_CASE, exactly as the skill sees it.",
    project: "never",
    secret: true,
  },
];

const MODELS: readonly ConfigField[] = [
  {
    path: "models.<alias>.provider",
    type: oneOf(...MODEL_PROVIDERS),
    description: "Who serves the model.",
    project: "ignore",
  },
  {
    path: "models.<alias>.model",
    type: TEXT,
    description: "The provider's name for the model.",
    project: "ignore",
  },
  {
    path: "models.<alias>.base-url",
    type: TEXT,
    description: "Another address than the provider's own.",
    project: "ignore",
  },
  {
    path: "models.<alias>.api-key-env",
    type: TEXT,
    description: "The environment variable that holds the key.",
    project: "never",
  },
  {
    path: "models.<alias>.api-key",
    type: TEXT,
    description: "The key itself.",
    project: "never",
    secret: true,
  },
  {
    path: "models.<alias>.api-key-command",
    type: COMMAND,
    description: "A command that prints the key.",
    project: "never",
  },
  {
    path: "models.<alias>.input-price",
    type: PRICE,
    description: "What a million input tokens cost, for runs with a cost limit.",
    project: "ignore",
  },
  {
    path: "models.<alias>.output-price",
    type: PRICE,
    description: "What a million output tokens cost, in the same currency.",
    project: "ignore",
  },
];

const TOOLS: readonly ConfigField[] = [
  {
    path: "tools.<tool>",
    type: oneOf("allow", "ask", "deny"),
    description: 'The answer to a tool call, by tool name or by pattern: `"bash(git:*)"`.',
    project: "tighten",
    tightening: stricterOf("allow", "ask", "deny"),
  },
];

export const CONFIG_FIELDS: readonly ConfigField[] = [
  ...SKILLS,
  ...ONE_SKILL,
  ...SKILL_PROVIDER_FIELDS,
  ...MODELS,
  ...CAPABILITY_FIELDS,
  ...MCP_FIELDS,
  ...TOOLS,
  ...SANDBOX_FIELDS,
  ...SCAN_FIELDS,
  ...ENVIRONMENT_FIELDS,
  ...RUN_FIELDS,
];
