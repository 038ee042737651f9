/**
 * Restricts the tools of a host with its own loop to what the skills its model follows allow: `disallowed-tools`
 * removes whole tools, and refuses single calls if it has a scope. It decides and gives reasons; adapters enforce it.
 * What the host doesn't enforce is reported, and if it can't check single calls, the whole tool is removed.
 */
import type { Diagnostic, WriteLog } from "@metier/base/diagnostic";
import { showNames } from "@metier/base/text";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import { readListRules, type ToolLists, type ToolRule } from "../tools/policy-rules.ts";
import { readToolName, type ToolInput } from "../tools/tool.ts";
import { createToolPolicy } from "../tools/tool-policy.ts";
import { followedLists } from "./run-policy.ts";

/** Checks calls of the host's tools before they are made. */
export interface ToolGuard {
  /** Whether a call of this tool may be refused now; `false`: every call is allowed. */
  isHeld(tool: string): boolean;
  /**
   * Why this call must not be made, as told to the model; `undefined`: it may. `input`: an object, or a JSON string.
   */
  whyNot(tool: string, input: unknown): Promise<string | undefined>;
}

export interface ToolHold {
  readonly reports: readonly Diagnostic[];
  /** Its instructions were given to the model, or requested again: they apply until the turn ends. */
  follow(prepared: PreparedInvocation): void;
  /** Its instructions are in the system prompt: they apply in every turn. */
  preload(prepared: PreparedInvocation): void;
  startTurn(): void;
  narrow<Name extends string>(tools: readonly Name[], skills?: readonly string[]): readonly Name[];
  guard(tools?: readonly string[], beyond?: readonly string[]): ToolGuard;
  /** The same for the offer's own tools, which check their own calls. */
  own(tools: readonly string[]): ToolGuard;
}

interface HoldSettings {
  /** Where relative paths in scopes start. */
  readonly cwd: string;
  readonly log: WriteLog;
  /** The unapproved MCP server skill in the conversation; checked at every call. */
  readonly unapproved: () => string | undefined;
}

export function createToolHold(settings: HoldSettings): ToolHold {
  const reports = openReports(settings.log);
  const followed = createFollowed();
  /** Tools whose single calls this offer checks; `isWhole`: all tools. */
  const guarded = { names: new Set<string>(), isWhole: false };
  const beyond = new Set<string>();
  let isAsked = false;
  const denying = (lists: readonly ToolLists[], tool: string): readonly DenyingRule[] =>
    findDenying(lists, tool, settings.cwd);
  const reportNew = (lists: ToolLists): void => {
    const { owner, path, disallowedTools } = lists;
    if (disallowedTools.length === 0) return;
    if (!isAsked) reports.add(unheld(owner, path, disallowedTools));
    for (const tool of beyond) {
      for (const { rule, list } of denying([lists], tool)) reports.add(unreachable(tool, rule, list));
    }
  };
  const isExecutionStopped = (tool: string): boolean =>
    settings.unapproved() !== undefined && EXECUTING.has(idOf(tool));
  const isVisible = (tool: string, lists: readonly ToolLists[]): boolean => {
    const rules = denying(lists, tool);
    if (rules.some(({ rule }) => rule.scope === undefined)) return false;
    if (guarded.isWhole || guarded.names.has(tool)) return true;
    for (const { rule, list } of rules) reports.add(takenWhole(tool, rule, list));
    return rules.length === 0 && !isExecutionStopped(tool);
  };
  const guard: ToolGuard = {
    isHeld: (tool) => isExecutionStopped(tool) || denying(followed.lists(), tool).length > 0,
    async whyNot(tool, input) {
      if (!guard.isHeld(tool)) return undefined;
      const { cwd, unapproved } = settings;
      return refuseCall(tool, input, { lists: followed.lists(), config: {}, policy: {}, cwd, unapproved });
    },
  };
  return {
    reports: reports.all,
    follow(prepared) {
      followed.add(prepared);
      reportNew(followedLists(prepared));
    },
    preload: followed.preload,
    startTurn: followed.startTurn,
    narrow(tools, skills) {
      isAsked = true;
      const lists = followed.lists(skills);
      return tools.filter((tool) => isVisible(tool, lists));
    },
    guard(tools, others = []) {
      isAsked = true;
      if (tools === undefined) guarded.isWhole = true;
      for (const tool of tools ?? []) guarded.names.add(tool);
      for (const tool of others) beyond.add(tool);
      return guard;
    },
    own(tools) {
      for (const tool of tools) guarded.names.add(tool);
      return guard;
    },
  };
}

interface Reports {
  readonly all: readonly Diagnostic[];
  /** Each message once. */
  add(diagnostic: Diagnostic): void;
}

function openReports(log: WriteLog): Reports {
  const all: Diagnostic[] = [];
  return {
    all,
    add(diagnostic) {
      if (all.some(({ message }) => message === diagnostic.message)) return;
      all.push(diagnostic);
      log("warn", { code: diagnostic.code }, diagnostic.message);
    },
  };
}

interface Followed {
  /** Until the turn ends. */
  add(prepared: PreparedInvocation): void;
  /** In every turn. */
  preload(prepared: PreparedInvocation): void;
  startTurn(): void;
  /** Of what is preloaded and followed now, or of these skills instead of the followed ones. */
  lists(skills?: readonly string[]): readonly ToolLists[];
}

/** The skills the model follows. */
function createFollowed(): Followed {
  const known = new Map<string, PreparedInvocation>();
  const preloaded = new Set<string>();
  const followed = new Set<string>();
  const addTo = (names: Set<string>) => (prepared: PreparedInvocation) => {
    names.add(prepared.skill.name);
    known.set(prepared.skill.name, prepared);
  };
  return {
    add: addTo(followed),
    preload: addTo(preloaded),
    startTurn: () => followed.clear(),
    lists: (skills) =>
      [...new Set([...preloaded, ...(skills ?? followed)])].flatMap((name) => {
        const prepared = known.get(name);
        return prepared ? [followedLists(prepared)] : [];
      }),
  };
}

function findDenying(lists: readonly ToolLists[], tool: string, cwd: string): readonly DenyingRule[] {
  return lists.flatMap((list) =>
    readListRules(list, { cwd, hostTools: [] }, [])
      .disallowed.filter((rule) => rule.isFor(idOf(tool)))
      .map((rule) => ({ rule, list })),
  );
}

interface DenyingRule {
  readonly rule: ToolRule;
  readonly list: ToolLists;
}

/** Tools that start code in any host: nothing written by an unapproved server may reach them. */
const EXECUTING: ReadonlySet<string> = new Set(["bash", "run_script"]);

/** A host's `Bash`, `shell` or `Read` is meant by every name for ours. */
function idOf(tool: string): string {
  const { name, known } = readToolName(tool);
  return known === "ours" ? name : tool;
}

async function refuseCall(
  tool: string,
  given: unknown,
  options: Parameters<typeof createToolPolicy>[0],
): Promise<string | undefined> {
  const id = idOf(tool);
  const effect = EXECUTING.has(id) ? "execute" : "read";
  try {
    const decision = await createToolPolicy(options).decide(id, effect, readInput(given));
    if (decision.answer !== "deny") return undefined;
    return decision.message ?? `\`${tool}\` was not allowed: ${decision.rule}.`;
  } catch (fault) {
    const why = fault instanceof Error ? fault.message : String(fault);
    return `\`${tool}\` was not allowed: it is unclear what this call does (${why}). Call it again, written plainly.`;
  }
}

/** As hosts send it: an object or a JSON string, with the path under one of its usual names. */
function readInput(given: unknown): ToolInput {
  const value: unknown = typeof given === "string" && given.trim() !== "" ? JSON.parse(given) : given;
  const input = (typeof value === "object" && value !== null ? value : {}) as ToolInput;
  const path = input.path ?? input.file_path ?? input.filePath;
  return path === undefined ? input : { ...input, path };
}

const GUIDE = '"Narrowing" in docs/reference/adapters.md explains how each adapter restricts your tools.';

function unheld(owner: string, path: string, patterns: readonly string[]): Diagnostic {
  const message = `\`disallowed-tools\` of ${owner} (${showNames(patterns)}) is not enforced: the program's tools are not part of this offer.`;
  return { code: "tools.unenforced", severity: "warning", message, path, hint: GUIDE };
}

function unreachable(tool: string, { written }: ToolRule, { owner, path }: ToolLists): Diagnostic {
  const message = `\`${written}\` in \`disallowed-tools\` of ${owner} is not enforced for \`${tool}\`: the host runs it where Metier cannot stop it.`;
  const hint = "Remove the tool where you offer such skills, or disable the skill.";
  return { code: "tools.unenforced", severity: "warning", message, path, hint };
}

function takenWhole(tool: string, { written }: ToolRule, { owner, path }: ToolLists): Diagnostic {
  const message = `\`${written}\` in \`disallowed-tools\` of ${owner} removes \`${tool}\` entirely: single calls are not checked here.`;
  return { code: "tools.scope-unenforceable", severity: "warning", message, path, hint: GUIDE };
}
