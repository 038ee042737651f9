/** The steps of the tool policy, each a verdict on one part of a call, or none. `tool-policy.ts` has their order. */
import type { ToolAnswer } from "@metier/skills/config";
import { trustAllows } from "@metier/skills/trust";
import { type ConfigRule, type ListRules, showAll, type ToolRule } from "./policy-rules.ts";
import type { CallPart } from "./policy-scope.ts";
import type { ToolEffect } from "./tool.ts";

export interface PolicyVerdict {
  readonly answer: ToolAnswer;
  readonly rule: string;
  readonly message?: string | undefined;
  /** It needed a scope, so redirections count and no shell is used. */
  readonly isScoped: boolean;
}

export const STRICTNESS: Readonly<Record<ToolAnswer, number>> = { allow: 0, ask: 1, deny: 2 };

export function findDenied(
  tool: string,
  part: CallPart,
  lists: readonly ListRules[],
  denies: readonly ConfigRule[],
): PolicyVerdict | undefined {
  for (const { owner, disallowed } of lists) {
    const rule = disallowed.find((entry) => mayMatch(entry, tool, part));
    if (rule !== undefined)
      return deny(tool, `\`disallowed-tools\` of ${owner} has \`${rule.written}\``, part, rule);
  }
  const rule = denies.find((entry) => mayMatch(entry, tool, part));
  return rule && deny(tool, describeConfig(rule), part, rule);
}

function deny(tool: string, rule: string, part: CallPart, { scope }: ToolRule): PolicyVerdict {
  const doubt =
    scope !== undefined && part.kind === "unprovable"
      ? ` This command may match it, because ${part.reason}: write it plainly.`
      : "";
  return { answer: "deny", rule, message: `\`${tool}\` was not allowed: ${rule}.${doubt}`, isScoped: false };
}

/** A call outside the list is denied, and the model is told what is on it. */
export function holdRestriction(tool: string, part: CallPart, list: ListRules): PolicyVerdict {
  const rules = (list.restriction ?? []).filter((rule) => rule.isFor(tool));
  const matching = rules.filter((rule) => isCertain(rule, tool, part));
  if (matching.length > 0) {
    return { answer: "allow", rule: "", isScoped: matching.every((rule) => rule.scope !== undefined) };
  }
  const inside = `Allowed: ${list.listed.length > 0 ? showAll(list.listed) : "no tool"}.`;
  const rule = `\`${tool}\` is ${rules.length > 0 ? "allowed only for other calls" : "not listed"} in \`${list.field}\` of ${list.owner}`;
  const reasons = rules.map((entry) => entry.scope?.whyNot(part)).filter((reason) => reason !== undefined);
  const why = reasons[0] === undefined ? "" : ` Here ${reasons[0]}.`;
  return { answer: "deny", rule, message: `${rule}.${why} ${inside}`, isScoped: false };
}

/** The most specific entry; of two equal ones, the stricter. Denying ones were checked before. */
export function findConfigured(
  tool: string,
  part: CallPart,
  rules: readonly ConfigRule[],
): PolicyVerdict | undefined {
  const matching = rules.filter((rule) =>
    rule.answer === "allow" ? isCertain(rule, tool, part) : mayMatch(rule, tool, part),
  );
  const best = matching.reduce<ConfigRule | undefined>((found, rule) => {
    if (found === undefined || rule.weight > found.weight) return rule;
    const isStricter = rule.weight === found.weight && STRICTNESS[rule.answer] > STRICTNESS[found.answer];
    return isStricter ? rule : found;
  }, undefined);
  return (
    best && {
      answer: best.answer,
      rule: describeConfig(best),
      isScoped: best.answer === "allow" && best.scope !== undefined,
    }
  );
}

export function findPreApproved(
  tool: string,
  part: CallPart,
  lists: readonly ListRules[],
): PolicyVerdict | undefined {
  for (const { owner, trust, preApproved } of lists) {
    if (!trustAllows(trust, "pre-approve-tools")) continue;
    const matching = preApproved.filter((rule) => isCertain(rule, tool, part));
    const rule = matching.find((entry) => entry.scope === undefined) ?? matching[0];
    if (rule === undefined) continue;
    const words = `\`allowed-tools\` of the trusted ${owner} has \`${rule.written}\``;
    return { answer: "allow", rule: words, isScoped: rule.scope !== undefined };
  }
  return undefined;
}

/** Anything that starts code: a command, a script, a tool from a skill. */
export function isExecuting(tool: string, effect: ToolEffect): boolean {
  return effect === "execute" || tool === "run_script";
}

/** No setting allows it: what a server sends must not run here before a person approves that skill. */
export function denyExecution(tool: string, skill: string): PolicyVerdict {
  const rule = `\`${skill}\` comes from an MCP server and is not approved`;
  const message = `\`${tool}\` was not allowed: ${rule}, so nothing runs. The user can approve it with \`metier remote approve ${skill}\`.`;
  return { answer: "deny", rule, message, isScoped: false };
}

export function defaultFor(tool: string, effect: ToolEffect): PolicyVerdict {
  const asks = effect === "execute" || effect === "write" || effect === "network" || tool === "run_script";
  const rule = asks ? `\`${tool}\` asks by default` : `\`${tool}\` is allowed by default`;
  return { answer: asks ? "ask" : "allow", rule, isScoped: false };
}

export function explainRedirection(verdict: PolicyVerdict, tool: string, path: string): PolicyVerdict {
  const rule = `redirecting to or from \`${path}\` needs \`${tool}\`: ${verdict.rule}`;
  return verdict.answer === "deny"
    ? { ...verdict, rule, message: `The command was not allowed: ${rule}.` }
    : { ...verdict, rule };
}

function describeConfig({ source, written, answer }: ConfigRule): string {
  return `\`${written}\` is \`${answer}\` in ${source}`;
}

function isCertain({ isFor, scope }: ToolRule, tool: string, part: CallPart): boolean {
  return isFor(tool) && (scope === undefined || scope.whyNot(part) === undefined);
}

function mayMatch({ isFor, scope }: ToolRule, tool: string, part: CallPart): boolean {
  return isFor(tool) && (scope === undefined || scope.mayMatch(part));
}

/** The second only if it is stricter. */
export function stricter(first: PolicyVerdict, second: PolicyVerdict): PolicyVerdict {
  return STRICTNESS[second.answer] > STRICTNESS[first.answer] ? second : first;
}
