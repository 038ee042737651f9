/**
 * Every frontmatter field Metier knows, in one table. The manifest, suggestions for unknown fields, the JSON Schema for
 * editors and the reference page come from here. snake_case and camelCase are derived.
 */
import type { Json } from "@metier/base/json";
import { spellingsOf, toCamelCase, toKebabCase } from "@metier/base/text";
import { acceptedSpellings, type KebabCase, type ManifestField } from "./manifest.ts";
import { MAX_NAME_LENGTH, SKILL_NAME_PATTERN } from "./skill-name.ts";

export const MAX_DESCRIPTION_LENGTH = 1024;
export const MAX_COMPATIBILITY_LENGTH = 500;

type FieldOf<Kind> = Extract<ManifestField, { readonly kind: Kind }>;
type Traits<Kind> = Omit<FieldOf<Kind>, "name" | "kind" | "property" | "honouredBy" | "description">;

/** A field whose property is its name in camelCase. */
function field<Kind extends ManifestField["kind"]>(
  name: KebabCase<FieldOf<Kind>["property"]>,
  kind: Kind,
  honouredBy: ManifestField["honouredBy"],
  description: string,
  ...[traits]: Record<never, never> extends Traits<Kind> ? [Traits<Kind>?] : [Traits<Kind>]
): ManifestField {
  return { name, kind, property: toCamelCase(name), honouredBy, description, ...traits } as FieldOf<Kind>;
}

export const MANIFEST_FIELDS: readonly ManifestField[] = [
  // the published specification
  field(
    "name",
    "prose",
    "catalog",
    "Lowercase letters, digits and single hyphens, at most 64; same as the directory name.",
    { maxLength: MAX_NAME_LENGTH },
  ),
  field(
    "description",
    "prose",
    "catalog",
    "What the skill does and when to use it. Models choose skills by it.",
    { maxLength: MAX_DESCRIPTION_LENGTH },
  ),
  field("license", "prose", "catalog", "The license's name, or the file that contains it."),
  field("compatibility", "prose", "catalog", "What the skill needs: products, systems, packages, network.", {
    maxLength: MAX_COMPATIBILITY_LENGTH,
  }),
  field(
    "metadata",
    "map",
    "catalog",
    "More facts as text; `version`, `author`, `tags` and `requires` have a meaning.",
  ),
  field(
    "allowed-tools",
    "tools",
    "run",
    "The tools the skill may use, such as `Bash(git:*) Read`. Absent or empty: all of the caller's tools.",
  ),

  // what it is
  field("display-name", "text", "catalog", "The name shown to people."),
  field("when-to-use", "prose", "find", "When a model should use the skill; added to the description."),
  field("version", "text", "catalog", "The skill's version.", { belongsTo: "metadata.version" }),
  field("authors", "list", "catalog", "Who wrote the skill.", { separator: "none" }),
  {
    name: "author",
    kind: "list",
    separator: "none",
    takesLine: true,
    property: "authors",
    belongsTo: "metadata.author",
    fallbackFor: "authors",
    honouredBy: "catalog",
    description: "Who wrote the skill.",
  },
  field("tags", "list", "catalog", "Words for finding the skill.", {
    separator: "words",
    takesLine: true,
    belongsTo: "metadata.tags",
  }),
  field("rationale", "prose", "catalog", "Why the skill exists."),

  // who may use it, and when
  field("opt-in", "boolean", "catalog", "Off until the user enables it."),
  field("default-enabled", "boolean", "catalog", "`false`: off until the user enables it."),
  field("disable-model-invocation", "boolean", "invoke", "Models may not invoke the skill on their own."),
  field("user-invocable", "boolean", "invoke", "`false`: users may not invoke the skill directly."),
  field("sensitive", "boolean", "invoke", "Private chats only, unless `access.chat-types` says otherwise."),
  {
    name: "access",
    kind: "access",
    property: "chatTypes",
    keys: { "chat-types": "The chat types where the skill may be invoked." },
    honouredBy: "invoke",
    description: "Where the skill may be invoked.",
  },
  field("paths", "list", undefined, "File globs; the skill is offered when someone works on such files.", {
    separator: "commas",
    takesLine: true,
  }),
  field("triggers", "lists", "find", "What in a request suggests the skill.", {
    plain: "keywords",
    keys: {
      keywords: "Words that suggest the skill.",
      verbs: "Verbs that suggest the skill.",
      patterns: "Regular expressions that suggest the skill.",
    },
  }),
  field("requires", "lists", "catalog", "What the machine must have before the skill is offered.", {
    plain: "bins",
    keys: {
      bins: "Commands that must all be on PATH.",
      "any-bins": "Commands of which at least one must be on PATH.",
      env: "Environment variables that must be set.",
      os: "Supported operating systems: linux, darwin, win32.",
    },
  }),

  // how it is invoked
  field("argument-hint", "prose", "run", "What to type after the skill's name, such as `[file]`."),
  field("arguments", "list", "invoke", "Argument names, in order; `$name` in the body stands for each.", {
    separator: "words",
    takesLine: true,
  }),
  field("input-schema", "map", "invoke", "JSON Schema of the input."),
  field("output-schema", "map", "run", "JSON Schema of the answer: a run returns JSON that matches it."),

  // how it runs
  field(
    "context",
    "choice",
    "invoke",
    "`fork`: an isolated run. `inline`: the text goes into the caller's conversation.",
    { choices: ["fork", "inline"], aliases: ["execution-mode"] },
  ),
  field("agent", "text", "run", "The subagent that runs the skill when it forks."),
  field("background", "boolean", undefined, "A forked run continues in the background of the conversation."),
  field("model", "text", "run", "A model, or an alias from the configuration."),
  {
    name: "preferred-model",
    kind: "text",
    property: "model",
    fallbackFor: "model",
    honouredBy: "run",
    description: "A model alias, used if `model` is absent.",
  },
  field("effort", "text", "run", "How much the model thinks."),
  field("max-iterations", "count", "run", "How many model calls a run may make."),
  field("required-tools", "tools", "invoke", "Tools that must exist before a run starts."),
  field("disallowed-tools", "tools", "run", "Tools the skill may never use."),
  field(
    "toolsets",
    "list",
    "run",
    "Tools that the skill ships as code in its folder, each as `path/module:ExportName`.",
    { separator: "none" },
  ),
  field("env", "list", "invoke", "Environment variables a run receives from the configuration.", {
    separator: "words",
  }),
  field("packages", "list", "run", "Debian packages a run needs; install them with `metier setup`.", {
    separator: "words",
  }),
  field(
    "capabilities",
    "list",
    "invoke",
    "Operations the host performs for the skill, each as `namespace.name`.",
    { separator: "words" },
  ),
  field("sandbox", "lists", "run", "What a run may reach beyond its own folder.", {
    keys: {
      network: "Domains a run may reach.",
      read: "Paths a run may read.",
      write: "Paths a run may write.",
    },
  }),
  field("shell", "text", "invoke", "The shell for commands in the body."),
  field(
    "hooks",
    "map",
    "run",
    "Commands around the skill's own tool calls: `pre-tool`, `post-tool` and `stop`.",
  ),
  field("fallback", "json", undefined, "A Claude Code field, kept as written."),
];

const FIELD_BY_SPELLING: ReadonlyMap<string, ManifestField> = new Map(
  MANIFEST_FIELDS.flatMap((field) => acceptedSpellings(field).map((spelling) => [spelling, field] as const)),
);

/** The field written as `key` in any accepted spelling. */
export function findManifestField(key: string): ManifestField | undefined {
  return FIELD_BY_SPELLING.get(key);
}

/** The field meant by `key`, ignoring letter case: `Description` → `description`. */
export function findManifestFieldInAnyCase(key: string): ManifestField | undefined {
  return FIELD_BY_SPELLING.get(toKebabCase(key)) ?? FIELD_BY_SPELLING.get(key.toLowerCase());
}

type Schema = { readonly [key: string]: Json };

const LIST: Schema = { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] };

/** Draft 2020-12. Other spellings of a field are checked like the field, but not suggested. */
export function manifestJsonSchema(): Schema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Agent Skill frontmatter",
    description: "The YAML frontmatter of a SKILL.md file, as Metier reads it.",
    type: "object",
    required: ["name", "description"],
    properties: Object.fromEntries(MANIFEST_FIELDS.map((field) => [field.name, fieldSchema(field)])),
    patternProperties: Object.fromEntries(MANIFEST_FIELDS.flatMap(otherSpellings)),
  };
}

function otherSpellings(field: ManifestField): readonly (readonly [string, Schema])[] {
  const others = acceptedSpellings(field).filter((spelling) => spelling !== field.name);
  return others.length > 0 ? [[`^(?:${others.join("|")})$`, { $ref: `#/properties/${field.name}` }]] : [];
}

function fieldSchema(field: ManifestField): Schema {
  const { description, belongsTo } = field;
  return {
    description: belongsTo === undefined ? description : `${description} Belongs to \`${belongsTo}\`.`,
    ...(belongsTo !== undefined && { deprecated: true }),
    ...valueSchema(field),
  };
}

function valueSchema(field: ManifestField): Schema {
  switch (field.kind) {
    case "prose":
      return {
        type: "string",
        minLength: 1,
        ...(field.maxLength !== undefined && { maxLength: field.maxLength }),
        ...(field.name === "name" && { pattern: SKILL_NAME_PATTERN }),
      };
    case "text":
      return { type: "string" };
    case "boolean":
      return { type: "boolean" };
    case "count":
      return { type: "integer", minimum: 1 };
    case "list":
    case "tools":
      return LIST;
    case "choice":
      return { enum: field.choices };
    case "map":
      return field.name === "metadata"
        ? { type: "object", additionalProperties: { type: "string" } }
        : { type: "object" };
    case "access":
      return mapOfLists(field.keys);
    case "lists":
      return field.plain === undefined ? mapOfLists(field.keys) : { anyOf: [mapOfLists(field.keys), LIST] };
    case "json":
      return {};
  }
}

function mapOfLists(keys: Readonly<Record<string, string>>): Schema {
  const properties = Object.entries(keys).flatMap(([key, description]) =>
    spellingsOf(key).map((spelling) => [spelling, { description, ...LIST }] as const),
  );
  return { type: "object", properties: Object.fromEntries(properties), additionalProperties: false };
}
