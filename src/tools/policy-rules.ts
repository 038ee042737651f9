/** Tool patterns as rules that a call can be held against, with a diagnostic for every one that does less, or more, than it says. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../foundation/diagnostic-codes.ts";
import { compileGlob } from "../foundation/glob-pattern.ts";
import { parseToolPattern } from "../skill/tool-pattern.ts";
import { type CallScope, readCallScope } from "./policy-scope.ts";
import { readToolName, TOOL_NAMES, type ToolNameReading } from "./tool-names.ts";

export interface ToolRule {
  /** As it stands in the manifest or the configuration. */
  readonly written: string;
  isFor(tool: string): boolean;
  /** Absent: every call of the tool. */
  readonly scope?: CallScope;
  /** Of two rules that match a call, the heavier one is more specific. */
  readonly weight: number;
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
  const name = readToolName(toolText, source.hostTools);
  const whole = (): ToolRule => ({
    written,
    isFor: toolMatcher(name),
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
    return { written, isFor: toolMatcher(name), scope: reading.scope, weight: 1 + reading.scope.weight };
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

function reportUnknown(
  written: string,
  { known, near }: ToolNameReading,
  { field }: RuleSource,
  report: (code: DiagnosticCode, severity: Diagnostic["severity"], message: string, hint: string) => void,
): void {
  if (known === "elsewhere") {
    const message = `\`${written}\` in \`${field}\` is a tool of another system; nothing here does the same.`;
    report("tools.unknown", "info", message, "It has no effect here and can stay for other clients.");
  } else if (known === "unknown") {
    const hint = near.length > 0 ? `Did you mean ${showAll(near)}?` : `Tools are ${showAll(TOOL_NAMES)}.`;
    report(
      "tools.unknown",
      "warning",
      `\`${written}\` in \`${field}\` names no tool that exists here.`,
      hint,
    );
  }
}

/** `mcp__server` means every tool of the server. */
function toolMatcher({ name, known }: ToolNameReading): (tool: string) => boolean {
  if (known !== "pattern") return (tool) => tool === name;
  if (!name.includes("*")) return (tool) => tool === name || tool.startsWith(`${name}__`);
  return compileGlob(name);
}

/** `` `a`, `b` `` */
export function showAll(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
