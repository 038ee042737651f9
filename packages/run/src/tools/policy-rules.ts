/**
 * Tool patterns as rules that a call can be held against, with a diagnostic for every one that does less, or more, than
 * it says. They stand in the tool lists of skills and agents and in the tool tables of the configuration.
 */
import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { compileGlob } from "@metier/base/text";
import { parseToolPattern, type Trust } from "@metier/skills";
import type { ToolAnswer } from "@metier/skills/config";
import { trustAllows } from "@metier/skills/trust";
import { type CallScope, readCallScope } from "./policy-scope.ts";
import { readToolName, TOOL_NAMES, type ToolNameReading, toolNamesOf } from "./tool.ts";

export interface ToolRule {
  /** As it stands in the manifest or the configuration. */
  readonly written: string;
  /** Asked by a tool's id. */
  isFor(tool: string): boolean;
  /** Absent: every call of the tool. */
  readonly scope?: CallScope;
  /** Of two rules that match a call, the heavier one is more specific. */
  readonly weight: number;
}

/** The tools that a skill brings by its toolsets. */
interface OwnTools {
  readonly skill: string;
  /** Their own names; absent: not known here. */
  readonly tools?: readonly string[] | undefined;
}

interface RuleSource {
  /** `allow`: a rule must be certain to match. `deny`: it matches unless it is certain not to. */
  readonly use: "allow" | "deny";
  /** The field or table, for messages. */
  readonly field: string;
  /** The file, for diagnostics. */
  readonly path: string;
  readonly cwd: string;
  readonly hostTools: readonly string[];
  /** Of the skill whose list it is: it may name them without itself. */
  readonly own?: OwnTools | undefined;
  /** Whether every skill's tools are named without the skill. */
  readonly isBare?: boolean;
}

/** Gives no rule for a pattern that cannot be held and allows; one for the whole tool for a pattern that denies. */
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
      `\`${written}\` in \`${field}\` cannot be read as a tool pattern.`,
      "Write a tool's name, or a name with a scope in parentheses such as `Bash(git:*)`.",
    );
    return use === "deny" ? whole : undefined;
  }
  diagnostics.push(...reportUnknown(written, name, source));
  if (pattern.scope === undefined || pattern.scope === "*") return whole;
  const reading = readCallScope(name.name, pattern.scope, source);
  if (reading.ok) return { written, isFor, scope: reading.value, weight: 1 + reading.value.weight };
  const effect = use === "allow" ? "It allows nothing" : `It holds for every call of \`${name.name}\``;
  warn(
    "tools.scope-unenforceable",
    `\`${written}\` in \`${field}\` cannot be enforced: ${reading.refusal}. ${effect}.`,
    "Write the words a command begins with, as in `Bash(git log:*)`, a path as in `Read(./src/**)`, or `WebFetch(domain:example.com)`.",
  );
  return use === "deny" ? whole : undefined;
}

/** The names by which a skill's list may mean its own tools. One that means a tool of Metier's means that alone. */
function namesOfOwn({ own }: RuleSource): readonly string[] {
  return (own?.tools ?? []).flatMap((tool) =>
    toolNamesOf(`${own?.skill}:${tool}`, () => readToolName(tool).known !== "ours"),
  );
}

/** Whether it names a tool that could be known here and is not. Tools of other skills are those of other runs. */
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
    const message = `${where} is a tool of another system; nothing here does the same.`;
    const hint = "It has no effect here and can stay for other clients.";
    return [{ code: "tools.unknown", severity: "info", message, path, hint }];
  }
  if (!isMissing(reading, source)) return [];
  const message = `${where} names no tool that exists here.`;
  const hint = near.length > 0 ? `Did you mean ${showAll(near)}?` : `Tools are ${showAll(TOOL_NAMES)}.`;
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

/** The tool lists of one skill or agent that counts: the one that runs, or one that is active in a conversation. */
export interface ToolLists {
  /** As messages name it: ``skill `pdf` ``. */
  readonly owner: string;
  /** Its file, for diagnostics. */
  readonly path: string;
  /** As it counts here: chaining never raises it. */
  readonly trust: Trust;
  /** Only an isolated run is restricted to the tools that are named. */
  readonly isIsolated: boolean;
  /** Absent and empty mean the same: all the caller has. */
  readonly allowedTools?: readonly string[] | undefined;
  readonly requiredTools: readonly string[];
  readonly disallowedTools: readonly string[];
  /** They are part of the skill: its list may name them alone, and does not restrict them. */
  readonly own?: OwnTools | undefined;
  /** `requiredTools` are under this name in messages, and restrict also where there are none. */
  readonly onlyAs?: string | undefined;
}

type Surroundings = Pick<RuleSource, "cwd" | "hostTools" | "isBare">;

export interface ListRules {
  readonly owner: string;
  readonly trust: Trust;
  readonly own?: OwnTools | undefined;
  readonly disallowed: readonly ToolRule[];
  /** Absent: nothing is restricted. Empty: nothing on its list can be held, so nothing is left. */
  readonly restriction?: readonly ToolRule[] | undefined;
  readonly preApproved: readonly ToolRule[];
  /** The restricting list as it was written, and its field, for messages. */
  readonly listed: readonly string[];
  readonly field: string;
}

export interface ConfigRule extends ToolRule {
  readonly answer: ToolAnswer;
  /** Where it stands, for messages. */
  readonly source: string;
}

/** `required-tools` restricts where `allowed-tools` is absent or empty; it never pre-approves. */
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
