/**
 * The answer to every tool call: allow, ask or deny, and the rule that decided. Strongest first: `disallowed-tools`,
 * a configured deny and what lies outside a restricting tool list; the most specific configured entry; a trusted
 * skill's pre-approval; the default by effect. The machine's policy and the caller's own answer can only make it
 * stricter. Decides and says why; it asks nobody and executes nothing.
 */
import type { Config, ToolAnswer } from "../config/config.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { readCommand } from "../shell/read-command.ts";
import { type ListRules, readConfigRules, readListRules, type ToolLists } from "./policy-lists.ts";
import type { OwnTools, ToolRule } from "./policy-rules.ts";
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
  STRICTNESS,
  stricter,
  type Verdict,
} from "./policy-verdict.ts";
import { type Tool, type ToolEffect, type ToolInput, toolId } from "./tool.ts";

export interface ToolPolicyOptions {
  /** Each of them restricts and denies; any of them pre-approves. */
  readonly lists: readonly ToolLists[];
  readonly config: Config["tools"];
  readonly policy: Config["policyTools"];
  /** Where relative paths of scopes and calls start; a real path. */
  readonly cwd: string;
  /** Asked at every call: there is no pre-approval once an untrusted body is in the conversation. Default: never. */
  readonly isPreApprovalStopped?: () => boolean;
  /** Asked at every call: the skill of an MCP server that nobody approved, while whose text is followed. */
  readonly unapproved?: () => string | undefined;
  /** Tools that a run needs for itself: no list restricts them, but they can be denied. */
  readonly unrestricted?: readonly string[];
  /** Tools of the embedding program, by their names. */
  readonly hostTools?: readonly string[];
  /** Whether tools of skills are named without their skill (`skills.namespace-tools = false`). */
  readonly isBare?: boolean;
  /** Of whoever started this run: the stricter answer holds. */
  readonly outer?: ToolPolicy;
}

export interface PolicyDecision {
  readonly answer: ToolAnswer;
  /** Which rule decided, in words. */
  readonly rule: string;
  /** For a denied call: what the model is told. */
  readonly message?: string;
  /** The command as literal words: a scope covers it, and it is to be executed without a shell. */
  readonly argv?: readonly string[];
}

export interface ToolPolicy {
  readonly diagnostics: readonly Diagnostic[];
  /** Of all tools, those of which not every call is denied; in the order given. */
  visible<T extends Pick<Tool, "name" | "id">>(tools: readonly T[]): readonly T[];
  /** `tool` is its id. */
  decide(tool: string, effect: ToolEffect, input: ToolInput): Promise<PolicyDecision>;
}

export function createToolPolicy(options: ToolPolicyOptions): ToolPolicy {
  const diagnostics: Diagnostic[] = [];
  const { cwd, hostTools = [], unrestricted = [], outer, isPreApprovalStopped = () => false } = options;
  const around = { cwd, hostTools, isBare: options.isBare ?? false };
  const lists = options.lists.map((list) => readListRules(list, around, diagnostics));
  const config = readConfigRules(options.config, "the configuration", around, diagnostics);
  const limits = readConfigRules(options.policy, "the policy of this machine", around, diagnostics);
  const denies = [...config, ...limits].filter((rule) => rule.answer === "deny");
  const everyRule = [...config, ...limits, ...lists.flatMap(rulesOf)];

  const isRestricting = (list: ListRules, tool: string): boolean =>
    list.restriction !== undefined && !unrestricted.includes(tool) && !isOwn(tool, list.own);

  function decidePart(tool: string, effect: ToolEffect, part: CallPart): Verdict {
    const denied = findDenied(tool, part, lists, denies);
    if (denied !== undefined) return denied;
    let isScoped = false;
    for (const list of lists) {
      if (!isRestricting(list, tool)) continue;
      const held = holdRestriction(tool, part, list);
      if (held.answer === "deny") return held;
      isScoped ||= held.isScoped;
    }
    const given =
      findConfigured(tool, part, config) ??
      (isPreApprovalStopped() ? undefined : findPreApproved(tool, part, lists)) ??
      defaultFor(tool, effect);
    const limit = findConfigured(tool, part, limits);
    const verdict = limit === undefined ? given : stricter(given, limit);
    return { ...verdict, isScoped: isScoped || given.isScoped };
  }

  async function decideHere(tool: string, effect: ToolEffect, input: ToolInput): Promise<PolicyDecision> {
    const unapproved = options.unapproved?.();
    if (unapproved !== undefined && isExecuting(tool, effect))
      return toDecision(denyExecution(tool, unapproved));
    const hasScopes =
      tool === "bash" && everyRule.some((rule) => rule.scope !== undefined && rule.isFor(tool));
    if (!hasScopes) return toDecision(decidePart(tool, effect, { kind: "input", input }));
    const parsed = await readCommand(typeof input.command === "string" ? input.command : "");
    if (!parsed.provable) {
      return toDecision(decidePart(tool, effect, { kind: "unprovable", reason: parsed.reason }));
    }
    const verdicts = parsed.commands.map((words) => decidePart(tool, effect, { kind: "command", words }));
    const isScoped = verdicts.some((verdict) => verdict.isScoped);
    if (isScoped) {
      const redirected = (name: string, kind: ToolEffect, path: string): Verdict =>
        explainRedirection(decidePart(name, kind, { kind: "input", input: { path } }), name, path);
      verdicts.push(...parsed.writes.map((path) => redirected("write_file", "write", path)));
      verdicts.push(...parsed.reads.map((path) => redirected("read_file", "read", path)));
    }
    return toDecision(verdicts.reduce(stricter), isScoped ? parsed.argv : undefined);
  }

  return {
    diagnostics,
    visible(tools) {
      const here = tools.filter((given) => {
        const tool = toolId(given);
        return (
          !denies.some((rule) => rule.scope === undefined && rule.isFor(tool)) &&
          lists.every(
            (list) =>
              !list.disallowed.some((rule) => rule.scope === undefined && rule.isFor(tool)) &&
              (!isRestricting(list, tool) || list.restriction?.some((rule) => rule.isFor(tool))),
          )
        );
      });
      return outer === undefined ? here : outer.visible(here);
    },
    async decide(tool, effect, input) {
      const own = await decideHere(tool, effect, input);
      if (outer === undefined || own.answer === "deny") return own;
      const theirs = await outer.decide(tool, effect, input);
      const argv = own.argv ?? theirs.argv;
      const decided = STRICTNESS[theirs.answer] > STRICTNESS[own.answer] ? theirs : own;
      return argv === undefined ? decided : { ...decided, argv };
    },
  };
}

function isOwn(tool: string, own: OwnTools | undefined): boolean {
  return own?.tools?.some((name) => tool === `${own.skill}:${name}`) ?? false;
}

function rulesOf({ disallowed, restriction, preApproved }: ListRules): readonly ToolRule[] {
  return [...disallowed, ...(restriction ?? []), ...preApproved];
}

function toDecision({ answer, rule, message }: Verdict, argv?: readonly string[]): PolicyDecision {
  return {
    answer,
    rule,
    ...(message !== undefined && { message }),
    ...(argv !== undefined && answer !== "deny" && { argv }),
  };
}
