/** Tool patterns as rules that a call can be held against, with a diagnostic for every one that does less, or more, than it says. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../foundation/diagnostic-codes.ts";
import { compileGlob } from "../foundation/glob-pattern.ts";
import { parseToolPattern } from "../skill/tool-pattern.ts";
import { namesOf } from "./own-tools.ts";
import { type CallScope, readCallScope } from "./policy-scope.ts";
import { readToolName, TOOL_NAMES, type ToolNameReading } from "./tool-names.ts";

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
export interface OwnTools {
  readonly skill: string;
  /** Their own names; absent: not known here. */
  readonly tools?: readonly string[];
}

export interface RuleSource {
  /** `allow`: a rule must be certain to match. `deny`: it matches unless it is certain not to. */
  readonly use: "allow" | "deny";
  /** The field or table, for messages. */
  readonly field: string;
  /** The file, for diagnostics. */
  readonly path: string;
  readonly cwd: string;
  readonly hostTools: readonly string[];
  /** Of the skill whose list it is: it may name them without itself. */
  readonly own?: OwnTools;
  /** Whether every skill's tools are named without the skill. */
  readonly isBare?: boolean;
}

/** Gives no rule for a pattern that cannot be held and allows; one for the whole tool for a pattern that denies. */
export function readRule(
  written: string,
  source: RuleSource,
  diagnostics: Diagnostic[],
): ToolRule | undefined {
  const report = (
    code: DiagnosticCode,
    severity: Diagnostic["severity"],
    message: string,
    hint: string,
  ): void => {
    diagnostics.push({ code, severity, message, path: source.path, hint });
  };
  const pattern = parseToolPattern(written);
  const toolText = pattern?.tool ?? written.split("(", 1)[0]?.trim() ?? "";
  const name = readToolName(toolText, [...source.hostTools, ...namesOfOwn(source)]);
  const isFor = toolMatcher(name, source);
  const whole = (): ToolRule => ({
    written,
    isFor,
    weight: name.name.includes("*") ? -1 : 0,
  });
  if (pattern === undefined) {
    report(
      "tools.malformed",
      "warning",
      `\`${written}\` in \`${source.field}\` cannot be read as a tool pattern.`,
      "Write a tool's name, or a name with a scope in parentheses such as `Bash(git:*)`.",
    );
    return source.use === "deny" ? whole() : undefined;
  }
  reportUnknown(written, name, source, report);
  if (pattern.scope === undefined || pattern.scope === "*") return whole();
  const reading = readCallScope(name.name, pattern.scope, source);
  if (reading.ok) {
    return { written, isFor, scope: reading.scope, weight: 1 + reading.scope.weight };
  }
  const effect = source.use === "allow" ? "It allows nothing" : `It holds for every call of \`${name.name}\``;
  report(
    "tools.scope-unenforceable",
    "warning",
    `\`${written}\` in \`${source.field}\` cannot be enforced: ${reading.reason}. ${effect}.`,
    "Write the words a command begins with, as in `Bash(git log:*)`, a path as in `Read(./src/**)`, or `WebFetch(domain:example.com)`.",
  );
  return source.use === "deny" ? whole() : undefined;
}

/** The names by which a skill's list may mean its own tools. One that means a tool of Metier's means that alone. */
function namesOfOwn({ own }: RuleSource): readonly string[] {
  return (own?.tools ?? []).flatMap((tool) =>
    namesOf(`${own?.skill}:${tool}`, () => readToolName(tool).known !== "ours"),
  );
}

/** Whether it names a tool that could be known here and is not. Tools of other skills are those of other runs. */
function isMissing({ name, known }: ToolNameReading, { own }: RuleSource): boolean {
  if (known === "unknown") return own === undefined || own.tools !== undefined;
  if (known !== "owned" || own === undefined) return false;
  const mayBeOwn = name.startsWith(`${own.skill}:`) || name.startsWith(`${own.skill}__`);
  return own.tools !== undefined || !mayBeOwn;
}

function reportUnknown(
  written: string,
  reading: ToolNameReading,
  source: RuleSource,
  report: (code: DiagnosticCode, severity: Diagnostic["severity"], message: string, hint: string) => void,
): void {
  const { known, near } = reading;
  const { field } = source;
  if (known === "elsewhere") {
    const message = `\`${written}\` in \`${field}\` is a tool of another system; nothing here does the same.`;
    report("tools.unknown", "info", message, "It has no effect here and can stay for other clients.");
  } else if (isMissing(reading, source)) {
    const hint = near.length > 0 ? `Did you mean ${showAll(near)}?` : `Tools are ${showAll(TOOL_NAMES)}.`;
    report(
      "tools.unknown",
      "warning",
      `\`${written}\` in \`${field}\` names no tool that exists here.`,
      hint,
    );
  }
}

function toolMatcher(reading: ToolNameReading, { own, isBare }: RuleSource): (tool: string) => boolean {
  const matches = nameMatcher(reading);
  const isSkillKnown = (skill: string): boolean =>
    reading.known !== "ours" && (isBare === true || skill === own?.skill);
  return (tool) => namesOf(tool, isSkillKnown).some(matches);
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
