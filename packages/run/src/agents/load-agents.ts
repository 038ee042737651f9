/** Loads all named agents: files next to the user's and project's skills, and objects from the embedding program. */
import type { Diagnostic } from "@metier/base/diagnostic";
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from "@metier/base/json";
import { nearestNames, showNames, showValue, spellingsOf, toKebabCase } from "@metier/base/text";
import {
  coerceCount,
  coerceList,
  coerceProse,
  coerceText,
  coerceTools,
  createReport,
  type GivenValue,
  isSkillName,
  normaliseSkillName,
  type ParsedSkill,
  type Report,
} from "@metier/skills";
import type { GivenAgent, NamedAgent } from "./agent.ts";
import {
  type Built,
  type DefinitionFile,
  type DefinitionSources,
  loadDefinitions,
} from "./read-definitions.ts";

export interface LoadedAgents {
  /** By name; if several share a name, the one that wins. */
  readonly agents: ReadonlyMap<string, NamedAgent>;
  readonly diagnostics: readonly Diagnostic[];
}

export async function loadAgents({
  given = [],
  ...sources
}: DefinitionSources & { readonly given?: readonly GivenAgent[] }): Promise<LoadedAgents> {
  const build = ({ root, parsed, trust }: DefinitionFile): Built<NamedAgent> =>
    buildAgent(parsed, { location: parsed.candidate.file, scope: root.scope, trust });
  const loaded = await loadDefinitions("agents", sources, build, given.map(buildGiven));
  return { agents: loaded.definitions, diagnostics: loaded.diagnostics };
}

function buildGiven(given: unknown): Built<NamedAgent> {
  const fields = toFields(given);
  const name = typeof fields?.name === "string" ? fields.name.trim() : "";
  if (fields === undefined || name === "" || typeof fields.systemPrompt !== "string") {
    return { diagnostics: [reportUnusable(name)] };
  }
  const trust = { level: "trusted", reason: "The embedding program provides it." } as const;
  const { definition, diagnostics } = buildAgent(parsedObject(name, fields), {
    location: "",
    scope: "integration",
    trust,
  });
  return { definition, diagnostics: diagnostics.map(({ line: _line, column: _column, ...rest }) => rest) };
}

/** What a file could contain; the program may be JavaScript, so nothing is assumed. */
function toFields(given: unknown): JsonObject | undefined {
  try {
    const value = JSON.parse(JSON.stringify(given) ?? "null") as Json;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // A cycle, or something else that isn't data, which is reported.
  }
}

function parsedObject(name: string, frontmatter: JsonObject): ParsedSkill {
  return {
    candidate: { form: "markdown", file: `agent:${name}`, directory: "", defaultName: name },
    frontmatter,
    body: "",
    bodyLine: 1,
    position: () => undefined,
    written: () => undefined,
    diagnostics: [],
  };
}

function reportUnusable(name: string): Diagnostic {
  const path = `agent:${name || "(no name)"}`;
  const message = "An agent was passed without a name, or without a system prompt as a string.";
  const hint = "Pass an object with `name` and `systemPrompt`.";
  return { code: "given.unusable", severity: "error", path, message, hint };
}

/** Other names for the same thing. */
const ALIASES: Readonly<Record<string, string>> = { "max-turns": "max-iterations", "allowed-tools": "tools" };

const TOOLS_SCHEMA: JsonSchema = {
  anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
};

/** Every supported field, with its schema. */
const AGENT_FIELDS: Readonly<Record<string, JsonSchema>> = {
  name: {
    type: "string",
    description: "Lowercase letters, digits and single hyphens. Default: the file name.",
  },
  description: { type: "string", description: "What the agent is for." },
  "system-prompt": {
    type: "string",
    description: "The agent's system prompt. Default: the text below the frontmatter.",
  },
  model: { type: "string", description: "A model or an alias; `inherit` uses the caller's." },
  tools: { ...TOOLS_SCHEMA, description: "The tools it may use. Default: all of the caller's." },
  "disallowed-tools": { ...TOOLS_SCHEMA, description: "Tools it may not use." },
  skills: { ...TOOLS_SCHEMA, description: "Skills it knows from the start." },
  "max-iterations": { type: "integer", minimum: 1, description: "How many times it may ask its model." },
};

const FIELDS: ReadonlySet<string> = new Set(Object.keys(AGENT_FIELDS));

/** Fields of Claude Code's agents that have no effect here yet. */
const NOT_HONOURED: ReadonlySet<string> = new Set([
  "background",
  "color",
  "effort",
  "hooks",
  "initial-prompt",
  "isolation",
  "mcp-servers",
  "memory",
  "permission-mode",
]);

/** The body is the system prompt, unless a field sets it. */
function buildAgent(
  parsed: ParsedSkill,
  located: Pick<NamedAgent, "location" | "scope" | "trust">,
): Built<NamedAgent> {
  const diagnostics = [...parsed.diagnostics];
  if (parsed.frontmatter === undefined) return { diagnostics };
  const report = createReport(parsed, "standard", diagnostics);
  const given = readFields(parsed.frontmatter, report);
  const read = <Value>(name: string, coerce: (value: GivenValue) => Value | undefined): Value | undefined => {
    const value = given.get(name);
    return value === undefined || value.value === null ? undefined : coerce(value);
  };
  const text = (value: GivenValue): string | undefined =>
    coerceProse(value, report, parsed.written) || undefined;

  const systemPrompt = read("system-prompt", text) ?? parsed.body;
  if (systemPrompt === "") return { diagnostics: [...diagnostics, reportEmpty(parsed)] };
  const model = read("model", (value) => coerceText(value, report, parsed.written));
  const tools = read("tools", (value) => coerceTools(value, report));
  const maxIterations = read("max-iterations", (value) => coerceCount(value, report));
  const definition = {
    name: settleName(read("name", text), parsed, report),
    description: read("description", text) ?? "",
    systemPrompt,
    model: model === "inherit" ? undefined : model || undefined,
    tools,
    disallowedTools: read("disallowed-tools", (value) => coerceTools(value, report)) ?? [],
    skills:
      read("skills", (value) => coerceList(value, { separator: "words", takesLine: true }, report)) ?? [],
    maxIterations: maxIterations || undefined,
    ...located,
  };
  return { definition, diagnostics };
}

/** By kebab-case name; if a field is spelled two ways, the first wins. */
function readFields(
  frontmatter: NonNullable<ParsedSkill["frontmatter"]>,
  report: Report,
): ReadonlyMap<string, GivenValue> {
  const given = new Map<string, GivenValue>();
  const idle: string[] = [];
  for (const [key, value] of Object.entries(frontmatter)) {
    const kebab = toKebabCase(key);
    const name = ALIASES[kebab] ?? kebab;
    const earlier = given.get(name);
    if (NOT_HONOURED.has(name)) idle.push(key);
    else if (!FIELDS.has(name)) reportUnknown(key, name, report);
    else if (earlier === undefined) given.set(name, { name, key, value });
    else {
      report("field.both-spellings", `\`${earlier.key}\` and \`${key}\` both set the field \`${name}\`.`, {
        key,
        hint: `Keep one of them; \`${earlier.key}\` is used now.`,
      });
    }
  }
  if (idle.length > 0) {
    report("field.not-honoured", `Metier reads but ignores ${showNames(idle)}.`, {
      key: idle[0] ?? "",
    });
  }
  return given;
}

function reportUnknown(key: string, name: string, report: Report): void {
  const [near] = nearestNames(name, FIELDS, 1);
  const hint = near === undefined ? `Known fields: ${showNames([...FIELDS])}.` : `Did you mean \`${near}\`?`;
  report("field.unknown", `${showValue(key)} is not an agent field.`, { key, hint });
}

function settleName(written: string | undefined, { candidate }: ParsedSkill, report: Report): string {
  const name = written ?? candidate.defaultName;
  if (isSkillName(name)) return name.normalize("NFKC");
  const normal = normaliseSkillName(name) || normaliseSkillName(candidate.defaultName) || "agent";
  report("name.grammar", `The name ${showValue(name)} is read as \`${normal}\`.`, {
    key: "name",
    hint: `Write \`name: ${normal}\`: lowercase letters, digits and single hyphens, at most 64 characters.`,
  });
  return normal;
}

function reportEmpty({ candidate }: ParsedSkill): Diagnostic {
  const message = "The agent has no system prompt, so it is skipped.";
  const hint = "Describe below the frontmatter who the agent is and how it works.";
  return { code: "definition.empty", severity: "error", path: candidate.file, message, hint };
}

/** The schema of an agent's frontmatter. */
export function agentJsonSchema(): JsonSchema {
  const aliases = Object.entries(ALIASES).map(([alias, name]) => [alias, AGENT_FIELDS[name] ?? {}] as const);
  const idle = [...NOT_HONOURED].map((name) => [name, { description: "Read, but ignored." }] as const);
  const properties = [...Object.entries(AGENT_FIELDS), ...aliases, ...idle].flatMap(([name, schema]) =>
    spellingsOf(name).map((spelling) => [spelling, schema] as const),
  );
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Agent frontmatter",
    description: "The YAML frontmatter of an agent: .metier/agents/*.md.",
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}
