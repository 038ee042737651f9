/** The tool lists of skills and agents, and the tool tables of the configuration, read into rules once for a policy. */
import type { ToolAnswer } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Trust } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { type OwnTools, type RuleSource, readRule, type ToolRule } from "./policy-rules.ts";

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
  readonly allowedTools?: readonly string[];
  readonly requiredTools: readonly string[];
  readonly disallowedTools: readonly string[];
  /** They are part of the skill: its list may name them alone, and does not restrict them. */
  readonly own?: OwnTools;
}

type Surroundings = Pick<RuleSource, "cwd" | "hostTools" | "isBare">;

export interface ListRules {
  readonly owner: string;
  readonly trust: Trust;
  readonly own?: OwnTools;
  readonly disallowed: readonly ToolRule[];
  /** Absent: nothing is restricted. Empty: nothing on its list can be held, so nothing is left. */
  readonly restriction?: readonly ToolRule[];
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
  const { owner, path, trust, allowedTools = [], requiredTools, disallowedTools } = list;
  const own = list.own && { own: list.own };
  const read = (field: string, use: RuleSource["use"], patterns: readonly string[]): readonly ToolRule[] =>
    patterns.flatMap(
      (written) => readRule(written, { ...around, ...own, field, path, use }, diagnostics) ?? [],
    );
  const disallowed = read("disallowed-tools", "deny", disallowedTools);
  const allowed = read("allowed-tools", "allow", allowedTools);
  const required = read("required-tools", "allow", requiredTools);
  const hasAllowed = allowedTools.length > 0;
  const listed = hasAllowed ? allowedTools : requiredTools;
  const restricts = list.isIsolated && listed.length > 0 && trustAllows(trust, "restrict-tools");
  return {
    owner,
    trust,
    ...own,
    disallowed,
    ...(restricts && { restriction: hasAllowed ? allowed : required }),
    preApproved: allowed,
    listed,
    field: hasAllowed ? "allowed-tools" : "required-tools",
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
