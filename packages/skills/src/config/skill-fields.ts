/**
 * The keys of `[skills]` and `[skills.<skill>]`: which skills exist, and what each gets. Also the entries of
 * `skills.plugins`, as other systems write them: their allowed content and their names.
 */
import { expandPath } from "@metier/base/places";
import { toKebabCase } from "@metier/base/text";
import { normaliseSkillName, SCOPES } from "../skill/skill-name.ts";
import { type PluginEntry, PRESETS, type SkillConfig, type SkillsConfig } from "./config.ts";
import {
  COMMON_CHATS,
  COMMON_FOLDERS,
  type ConfigField,
  FURTHER_LIST,
  fieldsOf,
  onlyTo,
  SMALLER,
  stricterOf,
  UNION,
} from "./config-field.ts";
import { providerFields } from "./service-fields.ts";
import {
  ALLOW_LISTS,
  type AllowLists,
  BOOLEAN,
  ENVIRONMENT_VALUE,
  integer,
  isTable,
  oneOf,
  PATH,
  PATHS,
  PROJECT_PATHS,
  parseJson,
  type ReadContext,
  readConfigText,
  SCOPE_ORDER,
  TEXT,
  TEXTS,
  type ValueTypeOf,
} from "./value-types.ts";

/** An entry has exactly one of them. */
export const PLUGIN_SOURCES = ["url", "repo", "path"] as const;

export const PLUGINS: ValueTypeOf<readonly PluginEntry[]> = {
  allowed:
    "a list of addresses, or of tables with exactly one of `url`, `repo` and `path`, and optionally `ref` (not with `path`), `name`, `enabled`, `installed-at`",
  read: (raw, context) => {
    if (!Array.isArray(raw)) return undefined;
    const entries = raw.map((entry) => readPlugin(entry, context)).filter((entry) => entry !== undefined);
    return entries.length === raw.length ? entries : undefined;
  },
  fromText: parseJson,
};

const PLUGIN_KEYS = new Set([...PLUGIN_SOURCES, "ref", "name", "enabled", "installed-at"]);

function readPlugin(raw: unknown, { home, base }: ReadContext): PluginEntry | undefined {
  if (!isTable(raw)) {
    const url = readConfigText(raw);
    return url === undefined ? undefined : { url, enabled: true };
  }
  const table = new Map(Object.entries(raw).map(([key, value]) => [toKebabCase(key), value]));
  const sources = PLUGIN_SOURCES.filter((key) => table.has(key));
  const address = readConfigText(table.get(sources[0] ?? ""));
  const enabled = table.get("enabled") ?? true;
  const isSound = sources.length === 1 && [...table.keys()].every((key) => PLUGIN_KEYS.has(key));
  if (!isSound || address === undefined || typeof enabled !== "boolean") return undefined;
  const isPath = sources[0] === "path";
  const ref = readConfigText(table.get("ref"));
  if (isPath && ref !== undefined) return undefined;
  const name = readConfigText(table.get("name"));
  const installed = table.get("installed-at");
  const installedAt = installed instanceof Date ? installed.toISOString() : readConfigText(installed);
  return { url: isPath ? expandPath(address, home, base) : address, enabled, ref, name, installedAt };
}

/** The entry's name, or that of its repository: `https://example.com/user/my-skill.git` is `my-skill`. */
export function pluginName({ name, url }: Pick<PluginEntry, "name" | "url">): string {
  if (name !== undefined) return name;
  const [address = ""] = url.split(/[?#]/, 1);
  const last = address.split(/[/:\\]/).findLast((part) => part !== "") ?? "";
  return normaliseSkillName(last.replace(/\.git$/i, ""));
}

/** The value of an entry's key as written, in any spelling; an entry may be just an address. */
export function readPluginKey(written: unknown, key: string): unknown {
  if (typeof written === "string") return key === "url" ? written : undefined;
  const entries = Object.entries(typeof written === "object" && written !== null ? written : {});
  return entries.find(([name]) => toKebabCase(name) === key)?.[1];
}

/** As written: one key for the allow list and what tightens it, and separate tables for nested keys. */
type WrittenSkills = Omit<SkillsConfig, "allow" | "allowWithin" | "defaults" | "settings"> & {
  readonly allow: AllowLists;
};

const SKILLS: readonly ConfigField[] = fieldsOf<WrittenSkills>("skills", {
  paths: {
    type: PATHS,
    description: "Your own skill folders, or folders of skills.",
    default: [],
    aliases: ["custom-paths", "skills-dir"],
    project: "ignore",
    tightening: COMMON_FOLDERS,
  },
  "trusted-paths": {
    type: PATHS,
    description: "Folders whose skills are trusted, including subfolders.",
    default: [],
    project: "ignore",
    tightening: COMMON_FOLDERS,
  },
  preset: {
    type: oneOf(...PRESETS),
    description: "Use the directories, order and config files of another system.",
  },
  disabled: {
    type: TEXTS,
    description: "Skills to turn off, by name or glob.",
    default: [],
    tightening: UNION,
  },
  allow: {
    type: ALLOW_LISTS,
    description: "The only skills to use, by name or glob; empty means all.",
    default: [],
    tightening: FURTHER_LIST,
  },
  deny: {
    type: TEXTS,
    description: "Skills to turn off even if `skills.allow` names them.",
    default: [],
    tightening: UNION,
  },
  order: { type: SCOPE_ORDER, description: "Scopes, lowest precedence first.", default: SCOPES },
  "auto-discover": {
    type: BOOLEAN,
    description: "Whether to search the standard directories; `skills.paths` are always searched.",
    default: true,
    project: "ignore",
    tightening: onlyTo(false),
  },
  bundled: {
    type: BOOLEAN,
    description:
      "Whether to include the bundled skills; on by default in the command line, off in the library.",
    tightening: onlyTo(false),
  },
  "disabled-bundled": {
    type: TEXTS,
    description: "Bundled skills to turn off.",
    default: [],
    tightening: UNION,
  },
  "enabled-bundled": {
    type: TEXTS,
    description: "The only bundled skills to use; empty means all.",
    default: [],
  },
  nested: {
    type: BOOLEAN,
    description: "Whether a skill inside another one is a separate skill.",
    default: false,
    tightening: onlyTo(false),
  },
  "namespace-tools": {
    type: BOOLEAN,
    description: "Whether the names of a skill's own tools start with the skill's name.",
    default: true,
    tightening: onlyTo(true),
  },
  "default-execution": {
    type: oneOf("auto", "inline", "isolated"),
    description: "How to run a skill that does not say; `auto` isolates what only an isolated run can do.",
    default: "auto",
    tightening: stricterOf("inline", "auto", "isolated"),
  },
  "dynamic-context": {
    type: BOOLEAN,
    description: "Whether commands in a trusted skill's text, written as !`…`, run before it is shown.",
    default: false,
    project: "ignore",
    tightening: onlyTo(false),
  },
  "secret-env": {
    type: oneOf("allow", "block"),
    description: "Whether skills may declare variables with names like secrets: `…_TOKEN`, `…_API_KEY`.",
    default: "allow",
    tightening: stricterOf("allow", "block"),
  },
  "script-timeout-ms": {
    type: integer(1, 86_400_000, "milliseconds"),
    description: "How long a skill's script may run.",
    default: 60_000,
    aliases: ["script-timeout"],
    tightening: SMALLER,
  },
  "project-dirs": {
    type: PROJECT_PATHS,
    description: "Project skill directories, lowest precedence first, instead of the preset's.",
    aliases: ["skills-dirs"],
  },
  "user-dir": {
    type: PATH,
    description: "Your own skill directory, instead of the preset's.",
    aliases: ["user-skills-dir"],
  },
  "plugins-dir": {
    type: PATH,
    description: "Where installed skills are stored, instead of the preset's directory.",
  },
  plugins: {
    type: PLUGINS,
    description: "Skills from repositories; `metier install` installs the missing ones.",
    aliases: ["sources"],
    default: [],
  },
});

const DEFAULTS: readonly ConfigField[] = fieldsOf<SkillsConfig["defaults"]>("skills.defaults", {
  "allow-chat-ids": {
    type: TEXTS,
    description: "The chats where skills may be used; empty means all.",
    default: [],
    tightening: COMMON_CHATS,
  },
});

const ONE_SKILL: readonly ConfigField[] = [
  ...fieldsOf<Omit<SkillConfig, "env" | "sandbox" | "capabilityProvider">>("skills.<skill>", {
    enabled: {
      type: BOOLEAN,
      description: "Whether to use the skill; set `true` for an opt-in skill.",
      tightening: onlyTo(false),
    },
    model: { type: TEXT, description: "The model to run it with: an alias or a model name." },
    "allow-chat-ids": {
      type: TEXTS,
      description: "The chats where it may be used, instead of the default; empty means all.",
      tightening: COMMON_CHATS,
      inherits: "skills.defaults.allow-chat-ids",
    },
  }),
  ...fieldsOf<NonNullable<SkillConfig["sandbox"]>>("skills.<skill>.sandbox", {
    network: {
      type: TEXTS,
      description: "Domains this skill may reach once you trust it.",
      heldBy: ["sandbox.network"],
    },
    read: {
      type: PATHS,
      description: "Paths outside the working directory that this skill may read once you trust it.",
      heldBy: ["sandbox.read"],
    },
    write: {
      type: PATHS,
      description: "Folders this skill may write to, and read, once you trust it.",
      heldBy: ["sandbox.read", "sandbox.write"],
    },
  }),
  ...fieldsOf<SkillConfig["env"]>("skills.<skill>", {
    "<VARIABLE>": {
      type: ENVIRONMENT_VALUE,
      description: "A variable in this skill's environment, in UPPER_CASE, exactly as the skill sees it.",
      project: "never",
      secret: true,
    },
  }),
];

/** `[capabilities.providers]` overrides these, so a limit set here would not hold: they cannot tighten. */
const SKILL_PROVIDER: readonly ConfigField[] = providerFields("skills.<skill>.capability-provider").map(
  ({ tightening, project, ...field }) => ({ ...field, project: project === "never" ? "never" : "ignore" }),
);

export const SKILL_FIELDS: readonly ConfigField[] = [...SKILLS, ...DEFAULTS, ...ONE_SKILL, ...SKILL_PROVIDER];
