/**
 * The tools of a host that has a loop of its own, held to what the skills say that its model follows: `disallowed-tools`
 * takes away whole tools, and refuses single calls where it has a scope. Decides and says why; adapters carry it out.
 * Whatever the host does not hold is reported, and where it cannot look at single calls, the whole tool goes.
 */
import type { Diagnostic, WriteLog } from "@metier/base/diagnostic";
import { showNames } from "@metier/base/text";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import { readListRules, type ToolLists, type ToolRule } from "../tools/policy-rules.ts";
import { readToolName, type ToolInput } from "../tools/tool.ts";
import { createToolPolicy } from "../tools/tool-policy.ts";
import { followedLists } from "./run-policy.ts";

/** Looks at calls of the host's tools before they are made. */
export interface ToolGuard {
  /** Whether a call of this tool may be refused now; `false`: every call may be made. */
  isHeld(tool: string): boolean;
  /** Why this call must not be made, as the model is told; `undefined`: it may. `input`: an object, or JSON in a string. */
  whyNot(tool: string, input: unknown): Promise<string | undefined>;
}

export interface ToolHold {
  readonly reports: readonly Diagnostic[];
  /** Its instructions were given to the model, or asked for again: they are followed until the turn ends. */
  follow(prepared: PreparedInvocation): void;
  /** Its instructions stand in the system prompt: they are followed in every turn. */
  preload(prepared: PreparedInvocation): void;
  startTurn(): void;
  narrow<Name extends string>(tools: readonly Name[], skills?: readonly string[]): readonly Name[];
  guard(tools?: readonly string[], beyond?: readonly string[]): ToolGuard;
  /** The same for the offer's own tools, which look at their calls themselves. */
  own(tools: readonly string[]): ToolGuard;
}

interface HoldSettings {
  /** Where relative paths of scopes start. */
  readonly cwd: string;
  readonly log: WriteLog;
  /** The skill of an MCP server in the conversation that nobody approved; asked at every call. */
  readonly unapproved: () => string | undefined;
}

export function createToolHold(settings: HoldSettings): ToolHold {
  const reports = openReports(settings.log);
  const followed = createFollowed();
  /** Tools of which this offer looks at single calls; `isWhole`: at all of them. */
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
  /** The same message once. */
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
  /** Of what is preloaded and followed now, or of these skills in place of the followed ones. */
  lists(skills?: readonly string[]): readonly ToolLists[];
}

/** The skills that the model follows. */
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

/** What starts code whoever has it: nothing that an unapproved server wrote may reach it. */
const EXECUTING: ReadonlySet<string> = new Set(["bash", "run_script"]);

/** A host's `Bash`, `shell` or `Read` is meant by every name that means ours. */
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
    return `\`${tool}\` was not allowed: it is not certain what this call does (${why}). Call it again, written plainly.`;
  }
}

/** As hosts send it: an object or JSON in a string, with the path under one of its usual names. */
function readInput(given: unknown): ToolInput {
  const value: unknown = typeof given === "string" && given.trim() !== "" ? JSON.parse(given) : given;
  const input = (typeof value === "object" && value !== null ? value : {}) as ToolInput;
  const path = input.path ?? input.file_path ?? input.filePath;
  return path === undefined ? input : { ...input, path };
}

const GUIDE = 'How each adapter holds your tools stands in docs/guide/adapters.md, under "Narrowing".';

function unheld(owner: string, path: string, patterns: readonly string[]): Diagnostic {
  const message = `\`disallowed-tools\` of ${owner} (${showNames(patterns)}) is not enforced: the program has not put its tools under this offer.`;
  return { code: "tools.unenforced", severity: "warning", message, path, hint: GUIDE };
}

function unreachable(tool: string, { written }: ToolRule, { owner, path }: ToolLists): Diagnostic {
  const message = `\`${written}\` in \`disallowed-tools\` of ${owner} is not enforced for \`${tool}\`: the host carries it out where nothing here can stop it.`;
  const hint = "Leave the tool out where such skills are offered, or disable the skill.";
  return { code: "tools.unenforced", severity: "warning", message, path, hint };
}

function takenWhole(tool: string, { written }: ToolRule, { owner, path }: ToolLists): Diagnostic {
  const message = `\`${written}\` in \`disallowed-tools\` of ${owner} takes \`${tool}\` away altogether: single calls of it are not looked at here.`;
  return { code: "tools.scope-unenforceable", severity: "warning", message, path, hint: GUIDE };
}
