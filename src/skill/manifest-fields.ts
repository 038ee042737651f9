/**
 * Every frontmatter field Metier knows, in one table. The manifest, the unknown-field suggestions, the JSON
 * Schema for editors and the reference page all come from here. snake_case and camelCase are derived.
 */
import { toKebabCase } from "../foundation/spelling.ts";
import { acceptedSpellings, type ManifestField } from "./manifest-field.ts";
import { RUN_FIELDS } from "./run-fields.ts";
import { MAX_NAME_LENGTH } from "./skill-name.ts";

export const MAX_DESCRIPTION_LENGTH = 1024;
export const MAX_COMPATIBILITY_LENGTH = 500;

export const MANIFEST_FIELDS: readonly ManifestField[] = [
  // the published specification
  {
    name: "name",
    kind: "prose",
    property: "name",
    maxLength: MAX_NAME_LENGTH,
    clients: ["spec"],
    honouredBy: "catalog",
    description:
      "Lower-case letters, digits and single hyphens, at most 64; the same as the directory's name.",
  },
  {
    name: "description",
    kind: "prose",
    property: "description",
    maxLength: MAX_DESCRIPTION_LENGTH,
    clients: ["spec"],
    honouredBy: "catalog",
    description: "What the skill does and when to use it. This is what a model chooses by.",
  },
  {
    name: "license",
    kind: "prose",
    property: "license",
    clients: ["spec"],
    honouredBy: "catalog",
    description: "The licence's name, or the file that holds it.",
  },
  {
    name: "compatibility",
    kind: "prose",
    property: "compatibility",
    maxLength: MAX_COMPATIBILITY_LENGTH,
    clients: ["spec"],
    honouredBy: "catalog",
    description: "What the skill needs: products, systems, packages, network.",
  },
  {
    name: "metadata",
    kind: "map",
    property: "metadata",
    clients: ["spec"],
    honouredBy: "catalog",
    description: "Further facts as text; `version`, `author`, `tags` and `requires` have a meaning.",
  },
  {
    name: "allowed-tools",
    kind: "tools",
    property: "allowedTools",
    clients: ["spec"],
    honouredBy: "run",
    description:
      "The tools the skill may use, such as `Bash(git:*) Read`. Absent or empty: all the caller has.",
  },

  // what it is
  {
    name: "display-name",
    kind: "text",
    property: "displayName",
    clients: ["claude-code"],
    honouredBy: "catalog",
    description: "How people see the name.",
  },
  {
    name: "when-to-use",
    kind: "prose",
    property: "whenToUse",
    clients: ["claude-code"],
    honouredBy: "find",
    description: "When a model uses the skill; follows the description.",
  },
  {
    name: "version",
    kind: "text",
    property: "version",
    belongsTo: "metadata.version",
    clients: [],
    honouredBy: "catalog",
    description: "The skill's version.",
  },
  {
    name: "authors",
    kind: "list",
    separator: "none",
    property: "authors",
    clients: ["ash"],
    honouredBy: "catalog",
    description: "Who wrote the skill.",
  },
  {
    name: "author",
    kind: "list",
    separator: "none",
    takesLine: true,
    property: "authors",
    belongsTo: "metadata.author",
    fallbackFor: "authors",
    clients: [],
    honouredBy: "catalog",
    description: "Who wrote the skill.",
  },
  {
    name: "tags",
    kind: "list",
    separator: "words",
    takesLine: true,
    property: "tags",
    belongsTo: "metadata.tags",
    clients: [],
    honouredBy: "catalog",
    description: "Words to find the skill by.",
  },
  {
    name: "rationale",
    kind: "prose",
    property: "rationale",
    clients: ["ash"],
    honouredBy: "catalog",
    description: "Why the skill exists.",
  },

  // who may use it, and when
  {
    name: "opt-in",
    kind: "boolean",
    property: "optIn",
    clients: ["ash", "metier"],
    honouredBy: "catalog",
    description: "Off until the user enables it.",
  },
  {
    name: "default-enabled",
    kind: "boolean",
    property: "defaultEnabled",
    clients: ["claude-code"],
    honouredBy: "catalog",
    description: "`false`: off until the user enables it.",
  },
  {
    name: "disable-model-invocation",
    kind: "boolean",
    property: "disableModelInvocation",
    clients: ["claude-code", "mamba"],
    honouredBy: "invoke",
    description: "A model may not invoke the skill by itself.",
  },
  {
    name: "user-invocable",
    kind: "boolean",
    property: "userInvocable",
    clients: ["claude-code", "mamba"],
    honouredBy: "invoke",
    description: "`false`: users may not invoke the skill directly.",
  },
  {
    name: "sensitive",
    kind: "boolean",
    property: "sensitive",
    clients: ["ash"],
    honouredBy: "invoke",
    description: "Private chats only, unless `access.chat-types` says otherwise.",
  },
  {
    name: "access",
    kind: "access",
    property: "chatTypes",
    keys: { "chat-types": "The types of chat in which the skill may be invoked." },
    clients: ["ash"],
    honouredBy: "invoke",
    description: "Where the skill may be invoked.",
  },
  {
    name: "paths",
    kind: "list",
    separator: "commas",
    takesLine: true,
    property: "paths",
    clients: ["claude-code"],
    description: "Globs of files; the skill is offered when such files are worked on.",
  },
  {
    name: "triggers",
    kind: "lists",
    property: "triggers",
    plain: "keywords",
    keys: {
      keywords: "Words that suggest the skill.",
      verbs: "Verbs that suggest the skill.",
      patterns: "Regular expressions that suggest the skill.",
    },
    clients: ["agent-harness", "ash"],
    honouredBy: "find",
    description: "What in a request suggests the skill.",
  },
  {
    name: "requires",
    kind: "lists",
    property: "requires",
    plain: "bins",
    keys: {
      bins: "Commands that must all be on PATH.",
      "any-bins": "Commands of which one must be on PATH.",
      env: "Environment variables that must be set.",
      os: "Operating systems it runs on: linux, darwin, win32.",
    },
    clients: ["openclaw", "metier"],
    honouredBy: "catalog",
    description: "What the machine must have before the skill is offered.",
  },

  ...RUN_FIELDS,
];

const FIELD_BY_SPELLING: ReadonlyMap<string, ManifestField> = new Map(
  MANIFEST_FIELDS.flatMap((field) => acceptedSpellings(field).map((spelling) => [spelling, field] as const)),
);

/** The field written as `key` in any accepted spelling. */
export function findManifestField(key: string): ManifestField | undefined {
  return FIELD_BY_SPELLING.get(key);
}

/** The field meant by `key` when letter case is overlooked: `Description` → `description`. */
export function findManifestFieldInAnyCase(key: string): ManifestField | undefined {
  return FIELD_BY_SPELLING.get(toKebabCase(key)) ?? FIELD_BY_SPELLING.get(key.toLowerCase());
}
