/** The fields of an agent file become an agent, or the reasons why not. The same for files and for given objects. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { nearestNames } from "../foundation/nearest-names.ts";
import { toKebabCase } from "../foundation/spelling.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import { isSkillName, normaliseSkillName } from "../skill/skill-name.ts";
import { coerceList, coerceTools } from "../validate/coerce-list.ts";
import { coerceCount, coerceProse, coerceText } from "../validate/coerce-scalar.ts";
import type { GivenValue } from "../validate/read-fields.ts";
import { createReport, type Report, showNames, showValue } from "../validate/report.ts";
import type { Agent } from "./agent.ts";

export interface BuiltAgent {
  readonly agent?: Omit<Agent, "scope" | "location" | "trust">;
  readonly diagnostics: readonly Diagnostic[];
}

/** Other names for the same thing. */
const ALIASES: Readonly<Record<string, string>> = { "max-turns": "max-iterations", "allowed-tools": "tools" };

const FIELDS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "system-prompt",
  "model",
  "tools",
  "disallowed-tools",
  "skills",
  "max-iterations",
]);

/** Fields of Claude Code's agents that mean nothing here yet. */
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

/** The body is the system prompt, unless a field says it. */
export function buildAgent(parsed: ParsedSkill): BuiltAgent {
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
  const agent = {
    name: settleName(read("name", text), parsed, report),
    description: read("description", text) ?? "",
    systemPrompt,
    ...(model && model !== "inherit" && { model }),
    ...(tools && { tools }),
    disallowedTools: read("disallowed-tools", (value) => coerceTools(value, report)) ?? [],
    skills:
      read("skills", (value) => coerceList(value, { separator: "words", takesLine: true }, report)) ?? [],
    ...(maxIterations && { maxIterations }),
  };
  return { agent, diagnostics };
}

/** By kebab-case name; of two spellings of one field the first counts. */
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
      report("field.both-spellings", `\`${earlier.key}\` and \`${key}\` are both the field \`${name}\`.`, {
        key,
        hint: `Keep one of them; now \`${earlier.key}\` is used.`,
      });
    }
  }
  if (idle.length > 0) {
    report("field.not-honoured", `This version reads, but does not act on ${showNames(idle)}.`, {
      key: idle[0] ?? "",
    });
  }
  return given;
}

function reportUnknown(key: string, name: string, report: Report): void {
  const [near] = nearestNames(name, FIELDS, 1);
  const hint = near === undefined ? `Known are ${showNames([...FIELDS])}.` : `Did you mean \`${near}\`?`;
  report("field.unknown", `${showValue(key)} is not a field of an agent.`, { key, hint });
}

function settleName(written: string | undefined, { candidate }: ParsedSkill, report: Report): string {
  const name = written ?? candidate.defaultName;
  if (isSkillName(name)) return name.normalize("NFKC");
  const normal = normaliseSkillName(name) || normaliseSkillName(candidate.defaultName) || "agent";
  report("name.grammar", `The name ${showValue(name)} is read as \`${normal}\`.`, {
    key: "name",
    hint: `Write \`name: ${normal}\`: lower-case letters, digits and single hyphens, at most 64.`,
  });
  return normal;
}

function reportEmpty({ candidate }: ParsedSkill): Diagnostic {
  return {
    code: "definition.empty",
    severity: "error",
    path: candidate.file,
    message: "The agent has no system prompt, so it is left out.",
    hint: "Write below the frontmatter who the agent is and how it works.",
  };
}
