/**
 * Answers every tool call: allow, ask or deny, with the deciding rule. Strongest first: `disallowed-tools`, a
 * configured deny and anything outside a restricting tool list; the most specific configured entry; a trusted skill's
 * pre-approval; the default by effect. The machine's policy and the caller's own answer can only make it stricter. It
 * decides and gives reasons; it asks nobody and executes nothing.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { readCommand } from "@metier/sandbox/shell";
import type { Config, ToolAnswer } from "@metier/skills/config";
import {
  type ConfigRule,
  type ListRules,
  readConfigRules,
  readListRules,
  type ToolLists,
  type ToolRule,
} from "./policy-rules.ts";
import type { CallPart } from "./policy-scope.ts";
import {
  defaultFor,
  denyExecution,
  explainRedirection,
  findConfigured,
  findDenied,
  findPreApproved,
  holdRestriction,
  isExecuting,
  type PolicyVerdict,
  STRICTNESS,
  stricter,
} from "./policy-verdict.ts";
import { type Tool, type ToolEffect, type ToolInput, toolId } from "./tool.ts";

export interface ToolPolicyOptions {
  /** Each of them restricts and denies; any of them pre-approves. */
  readonly lists: readonly ToolLists[];
  readonly config: Config["tools"];
  readonly policy: Config["policyTools"];
  /** Where relative paths of scopes and calls start; a real path. */
  readonly cwd: string;
  /**
   * Checked at every call: there is no pre-approval once the conversation contains an untrusted body. Default: never.
   */
  readonly isPreApprovalStopped?: (() => boolean) | undefined;
  /** Asked at every call: the skill of an MCP server that nobody approved, while whose text is followed. */
  readonly unapproved?: () => string | undefined;
  /** Tools that a run needs for itself: no list restricts them, but they can be denied. */
  readonly unrestricted?: readonly string[] | undefined;
  /** Tools of the embedding program, by their names. */
  readonly hostTools?: readonly string[] | undefined;
  /** Whether tools of skills are named without their skill (`skills.namespace-tools = false`). */
  readonly isBare?: boolean | undefined;
  /** Of whoever started this run: the stricter answer holds. */
  readonly outer?: ToolPolicy | undefined;
}

export interface PolicyDecision {
  readonly answer: ToolAnswer;
  /** Which rule decided, in words. */
  readonly rule: string;
  /** For a denied call: what the model is told. */
  readonly message?: string | undefined;
  /** The command as literal words: a scope covers it, and it is to be executed without a shell. */
  readonly argv?: readonly string[] | undefined;
}

export interface ToolPolicy {
  readonly diagnostics: readonly Diagnostic[];
  /** Of all tools, those of which not every call is denied; in the order given. */
  visible<T extends Pick<Tool, "name" | "id">>(tools: readonly T[]): readonly T[];
  /** `tool` is its id. */
  decide(tool: string, effect: ToolEffect, input: ToolInput): Promise<PolicyDecision>;
  /** The same with these patterns allowed by the user's config. */
  allowing?(patterns: readonly string[]): ToolPolicy;
}

export function createToolPolicy(options: ToolPolicyOptions): ToolPolicy {
  const { outer } = options;
  const rules = readRules(options);
  return {
    diagnostics: rules.diagnostics,
    visible(tools) {
      const here = tools.filter((given) => isVisible(toolId(given), rules));
      return outer === undefined ? here : outer.visible(here);
    },
    async decide(tool, effect, input) {
      const own = await decideCall(tool, effect, input, rules);
      if (outer === undefined || own.answer === "deny") return own;
      const theirs = await outer.decide(tool, effect, input);
      const argv = own.argv ?? theirs.argv;
      const decided = STRICTNESS[theirs.answer] > STRICTNESS[own.answer] ? theirs : own;
      return argv === undefined ? decided : { ...decided, argv };
    },
  };
}

/** Everything that is written about tools, read once. */
interface PolicyRules {
  readonly options: ToolPolicyOptions;
  readonly lists: readonly ListRules[];
  readonly config: readonly ConfigRule[];
  readonly limits: readonly ConfigRule[];
  /** Of both. */
  readonly denies: readonly ConfigRule[];
  readonly diagnostics: readonly Diagnostic[];
}

function readRules(options: ToolPolicyOptions): PolicyRules {
  const { cwd, hostTools = [], isBare = false } = options;
  const diagnostics: Diagnostic[] = [];
  const around = { cwd, hostTools, isBare };
  const lists = options.lists.map((list) => readListRules(list, around, diagnostics));
  const config = readConfigRules(options.config, "the configuration", around, diagnostics);
  const limits = readConfigRules(options.policy, "the policy of this machine", around, diagnostics);
  const denies = [...config, ...limits].filter((rule) => rule.answer === "deny");
  return { options, lists, config, limits, denies, diagnostics };
}

function isVisible(tool: string, { options, lists, denies }: PolicyRules): boolean {
  const isWhole = (rule: ToolRule): boolean => rule.scope === undefined && rule.isFor(tool);
  return (
    !denies.some(isWhole) &&
    lists.every(
      (list) =>
        !list.disallowed.some(isWhole) &&
        (!isRestricting(list, tool, options) || list.restriction?.some((rule) => rule.isFor(tool))),
    )
  );
}

async function decideCall(
  tool: string,
  effect: ToolEffect,
  input: ToolInput,
  rules: PolicyRules,
): Promise<PolicyDecision> {
  const unapproved = rules.options.unapproved?.();
  if (unapproved !== undefined && isExecuting(tool, effect))
    return toDecision(denyExecution(tool, unapproved));
  if (tool !== "bash" || !hasScopes(tool, rules))
    return toDecision(decidePart(tool, effect, { kind: "input", input }, rules));
  const parsed = await readCommand(typeof input.command === "string" ? input.command : "");
  if (!parsed.provable) {
    return toDecision(decidePart(tool, effect, { kind: "unprovable", reason: parsed.reason }, rules));
  }
  const verdicts = parsed.commands.map((words) =>
    decidePart(tool, effect, { kind: "command", words }, rules),
  );
  const isScoped = verdicts.some((verdict) => verdict.isScoped);
  if (isScoped) {
    const redirected = (name: string, kind: ToolEffect, path: string): PolicyVerdict =>
      explainRedirection(decidePart(name, kind, { kind: "input", input: { path } }, rules), name, path);
    verdicts.push(...parsed.writes.map((path) => redirected("write_file", "write", path)));
    verdicts.push(...parsed.reads.map((path) => redirected("read_file", "read", path)));
  }
  return toDecision(verdicts.reduce(stricter), isScoped ? parsed.argv : undefined);
}

function decidePart(tool: string, effect: ToolEffect, part: CallPart, rules: PolicyRules): PolicyVerdict {
  const { options, lists, config, limits, denies } = rules;
  const denied = findDenied(tool, part, lists, denies);
  if (denied !== undefined) return denied;
  let isScoped = false;
  for (const list of lists) {
    if (!isRestricting(list, tool, options)) continue;
    const held = holdRestriction(tool, part, list);
    if (held.answer === "deny") return held;
    isScoped ||= held.isScoped;
  }
  const given =
    findConfigured(tool, part, config) ??
    (options.isPreApprovalStopped?.() ? undefined : findPreApproved(tool, part, lists)) ??
    defaultFor(tool, effect);
  const limit = findConfigured(tool, part, limits);
  const verdict = limit === undefined ? given : stricter(given, limit);
  return { ...verdict, isScoped: isScoped || given.isScoped };
}

function isRestricting(list: ListRules, tool: string, { unrestricted = [] }: ToolPolicyOptions): boolean {
  const { restriction, own } = list;
  const isOwn = own?.tools?.some((name) => tool === `${own.skill}:${name}`);
  return restriction !== undefined && !unrestricted.includes(tool) && !isOwn;
}

function hasScopes(tool: string, { lists, config, limits }: PolicyRules): boolean {
  const listed = lists.map(({ disallowed, restriction = [], preApproved }) => [
    disallowed,
    restriction,
    preApproved,
  ]);
  return [config, limits, listed].flat(3).some((rule) => rule.scope !== undefined && rule.isFor(tool));
}

function toDecision({ answer, rule, message }: PolicyVerdict, argv?: readonly string[]): PolicyDecision {
  return { answer, rule, message, argv: answer === "deny" ? undefined : argv };
}
