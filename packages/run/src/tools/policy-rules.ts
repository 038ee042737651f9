/**
 * Turns tool patterns into rules to check calls against, with a diagnostic for each pattern that does less, or more,
 * than it says. Patterns are in the tool lists of skills and agents and in the tool tables of the configuration.
 */
import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { compileGlob } from "@metier/base/text";
import { parseToolPattern, type Trust } from "@metier/skills";
import type { ToolAnswer } from "@metier/skills/config";
import { trustAllows } from "@metier/skills/trust";
import { type CallScope, readCallScope } from "./policy-scope.ts";
import { readToolName, TOOL_NAMES, type ToolNameReading, toolNamesOf } from "./tool.ts";

export interface ToolRule {
  /** As written in the manifest or configuration. */
  readonly written: string;
  /** Takes a tool's id. */
  isFor(tool: string): boolean;
  /** Absent: every call of the tool. */
  readonly scope?: CallScope;
  /** If two rules match a call, the heavier one is more specific. */
  readonly weight: number;
}

/** The tools that a skill provides through its toolsets. */
interface OwnTools {
  readonly skill: string;
  /** Their own names; absent: unknown here. */
  readonly tools?: readonly string[] | undefined;
}

interface RuleSource {
  /** `allow`: a rule must certainly match. `deny`: it matches unless it certainly doesn't. */
  readonly use: "allow" | "deny";
  /** The field or table, for messages. */
  readonly field: string;
  /** The file, for diagnostics. */
  readonly path: string;
  readonly cwd: string;
  readonly hostTools: readonly string[];
  /** Of the skill whose list it is: it may name them without its own name. */
  readonly own?: OwnTools | undefined;
  /** Whether every skill's tools are named without the skill. */
  readonly isBare?: boolean;
}

/** Returns no rule for an allowing pattern that can't be enforced, and a rule for the whole tool for a denying one. */
export function readRule(
  written: string,
  source: RuleSource,
  diagnostics: Diagnostic[],
): ToolRule | undefined {
  const { use, field, path } = source;
  const warn = (code: DiagnosticCode, message: string, hint: string): void => {
    diagnostics.push({ code, severity: "warning", message, path, hint });
  };
  const pattern = parseToolPattern(written);
  const toolText = pattern?.tool ?? written.split("(", 1)[0]?.trim() ?? "";
  const name = readToolName(toolText, [...source.hostTools, ...namesOfOwn(source)]);
  const isFor = toolMatcher(name, source);
  const whole: ToolRule = { written, isFor, weight: name.name.includes("*") ? -1 : 0 };
  if (pattern === undefined) {
    warn(
      "tools.malformed",
      `\`${written}\` in \`${field}\` is not a valid tool pattern.`,
      "Write a tool's name, or a name with a scope in parentheses, such as `Bash(git:*)`.",
    );
    return use === "deny" ? whole : undefined;
  }
  diagnostics.push(...reportUnknown(written, name, source));
  if (pattern.scope === undefined || pattern.scope === "*") return whole;
  const reading = readCallScope(name.name, pattern.scope, source);
  if (reading.ok) return { written, isFor, scope: reading.value, weight: 1 + reading.value.weight };
  const effect = use === "allow" ? "It allows nothing" : `It applies to every call of \`${name.name}\``;
  warn(
    "tools.scope-unenforceable",
    `\`${written}\` in \`${field}\` cannot be enforced: ${reading.refusal}. ${effect}.`,
    "Write the first words of a command, as in `Bash(git log:*)`, a path, as in `Read(./src/**)`, or `WebFetch(domain:example.com)`.",
  );
  return use === "deny" ? whole : undefined;
}

/** The names by which a skill's list may mean its own tools. A name of a Metier tool means only that. */
function namesOfOwn({ own }: RuleSource): readonly string[] {
  return (own?.tools ?? []).flatMap((tool) =>
    toolNamesOf(`${own?.skill}:${tool}`, () => readToolName(tool).known !== "ours"),
  );
}

/** Whether it names a tool that should be known here but isn't. Tools of other skills belong to other runs. */
function isMissing({ name, known }: ToolNameReading, { own }: RuleSource): boolean {
  if (known === "unknown") return own === undefined || own.tools !== undefined;
  if (known !== "owned" || own === undefined) return false;
  const mayBeOwn = name.startsWith(`${own.skill}:`) || name.startsWith(`${own.skill}__`);
  return own.tools !== undefined || !mayBeOwn;
}

function reportUnknown(written: string, reading: ToolNameReading, source: RuleSource): readonly Diagnostic[] {
  const { known, near } = reading;
  const { path, field } = source;
  const where = `\`${written}\` in \`${field}\``;
  if (known === "elsewhere") {
    const message = `${where} is a tool of another system; Metier has no equivalent.`;
    const hint = "It has no effect here; you can keep it for other clients.";
    return [{ code: "tools.unknown", severity: "info", message, path, hint }];
  }
  if (!isMissing(reading, source)) return [];
  const message = `${where} is not a known tool.`;
  const hint = near.length > 0 ? `Did you mean ${showAll(near)}?` : `Known tools: ${showAll(TOOL_NAMES)}.`;
  return [{ code: "tools.unknown", severity: "warning", message, path, hint }];
}

function toolMatcher(reading: ToolNameReading, { own, isBare }: RuleSource): (tool: string) => boolean {
  const matches = nameMatcher(reading);
  const isSkillKnown = (skill: string): boolean =>
    reading.known !== "ours" && (isBare === true || skill === own?.skill);
  return (tool) => toolNamesOf(tool, isSkillKnown).some(matches);
}

/** `mcp__server` means every tool of the server. */
function nameMatcher({ name, known }: ToolNameReading): (tool: string) => boolean {
  if (known !== "pattern") return (tool) => tool === name;
  if (!name.includes("*")) return (tool) => tool === name || tool.startsWith(`${name}__`);
  return compileGlob(name);
}

/** `` `a`, `b` `` */
export function showAll(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

/** The tool lists of one skill or agent that applies: the running one, or one active in a conversation. */
export interface ToolLists {
  /** As messages name it: ``skill `pdf` ``. */
  readonly owner: string;
  /** Its file, for diagnostics. */
  readonly path: string;
  /** As it applies here: chaining never raises it. */
  readonly trust: Trust;
  /** Only an isolated run is restricted to the named tools. */
  readonly isIsolated: boolean;
  /** Absent and empty mean the same: all of the caller's. */
  readonly allowedTools?: readonly string[] | undefined;
  readonly requiredTools: readonly string[];
  readonly disallowedTools: readonly string[];
  /** They are part of the skill: its list may name them alone, and doesn't restrict them. */
  readonly own?: OwnTools | undefined;
  /** `requiredTools` have this name in messages, and restrict even if there are none. */
  readonly onlyAs?: string | undefined;
}

type Surroundings = Pick<RuleSource, "cwd" | "hostTools" | "isBare">;

export interface ListRules {
  readonly owner: string;
  readonly trust: Trust;
  readonly own?: OwnTools | undefined;
  readonly disallowed: readonly ToolRule[];
  /** Absent: nothing is restricted. Empty: nothing on its list can be enforced, so nothing is left. */
  readonly restriction?: readonly ToolRule[] | undefined;
  readonly preApproved: readonly ToolRule[];
  /** The restricting list as written, and its field, for messages. */
  readonly listed: readonly string[];
  readonly field: string;
}

export interface ConfigRule extends ToolRule {
  readonly answer: ToolAnswer;
  /** Where it is, for messages. */
  readonly source: string;
}

/** `required-tools` restricts if `allowed-tools` is absent or empty; it never pre-approves. */
export function readListRules(list: ToolLists, around: Surroundings, diagnostics: Diagnostic[]): ListRules {
  const { owner, path, trust, own, allowedTools = [], requiredTools, disallowedTools } = list;
  const read = (field: string, use: RuleSource["use"], patterns: readonly string[]): readonly ToolRule[] =>
    patterns.flatMap((written) => readRule(written, { ...around, own, field, path, use }, diagnostics) ?? []);
  const disallowed = read("disallowed-tools", "deny", disallowedTools);
  const allowed = read("allowed-tools", "allow", allowedTools);
  const required = read("required-tools", "allow", requiredTools);
  const hasAllowed = allowedTools.length > 0;
  const listed = hasAllowed ? allowedTools : requiredTools;
  const isList = listed.length > 0 || list.onlyAs !== undefined;
  const restricts = list.isIsolated && isList && trustAllows(trust, "restrict-tools");
  return {
    owner,
    trust,
    own,
    disallowed,
    restriction: restricts ? (hasAllowed ? allowed : required) : undefined,
    preApproved: allowed,
    listed,
    field: list.onlyAs ?? (hasAllowed ? "allowed-tools" : "required-tools"),
  };
}

export function readConfigRules(
  table: Readonly<Record<string, ToolAnswer>>,
  source: string,
  around: Surroundings,
  diagnostics: Diagnostic[],
): readonly ConfigRule[] {
  return Object.entries(table).flatMap(([written, answer]) => {
    const use = answer === "allow" ? "allow" : "deny";
    const rule = readRule(written, { ...around, field: source, path: "config", use }, diagnostics);
    return rule === undefined ? [] : [{ ...rule, answer, source }];
  });
}
