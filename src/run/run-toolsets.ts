/** The tools that the skill of a run brings as code: opened for a trusted skill, never in a mere plan. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { ConversationMemory } from "../invoke/inline.ts";
import type { PreparedInvocation } from "../invoke/invocation.ts";
import type { Redactor } from "../secrets/redaction.ts";
import type { OwnedTool } from "../tools/own-tools.ts";
import type { Tool } from "../tools/tool.ts";
import { openToolsets } from "../tools/toolsets/open-toolsets.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { deliverValues } from "./deliver-values.ts";
import type { RunHost } from "./run-host.ts";
import type { RunLimits } from "./run-limits.ts";
import type { SkillPlace } from "./skill-place.ts";

export interface RunToolsetsInput {
  readonly prepared: PreparedInvocation;
  readonly host: Pick<RunHost, "config" | "trustNow">;
  readonly place: Pick<SkillPlace, "world" | "sandbox">;
  readonly memory: ConversationMemory;
  readonly redactor: Redactor;
  readonly limits: RunLimits;
  /** The tools that the run has anyway. */
  readonly others: readonly Tool[];
  readonly isDry: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface RunToolsets {
  readonly tools: readonly OwnedTool[];
  /** Their own names; absent: they were not loaded, so nobody knows. */
  readonly names?: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
  close(): Promise<void>;
}

/** Until all modules of a skill are loaded; an honest one takes a fraction of a second. */
const LOAD_MS = 30_000;
/** The longest time that a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const NOTHING: RunToolsets = { tools: [], diagnostics: [], close: () => Promise.resolve() };

export async function openRunToolsets(input: RunToolsetsInput): Promise<RunToolsets> {
  const { prepared, host, place, limits, redactor } = input;
  const { skill, trust } = prepared;
  const isAllowed = trustAllows(trust.level, "load-toolsets"); // What is withheld was reported with the invocation.
  if (skill.manifest.toolsets.length === 0 || !isAllowed) return { ...NOTHING, names: [] };
  if (input.isDry) return NOTHING;
  const { scriptTimeoutMs, namespaceTools } = host.config().config.skills;
  const { tools, diagnostics, close } = await openToolsets({
    skill: skill.name,
    path: skill.location,
    entries: skill.manifest.toolsets,
    world: place.world,
    ...(place.world.skillDir !== undefined && { folder: place.world.skillDir }),
    ...(place.sandbox && { sandbox: place.sandbox }),
    env: deliverValues(prepared, input.memory),
    times: { loadMs: LOAD_MS, callMs: scriptTimeoutMs },
    lifetimeMs: Math.min(limits.timeoutMs + LOAD_MS, MAX_TIMER_MS),
    isNamespaced: namespaceTools,
    taken: input.others.map(({ name }) => name),
    mayLoad: () => trustAllows(host.trustNow(skill), "load-toolsets"),
    taintedBy: () => input.memory.trust.taintedBy,
    ...(input.signal && { signal: input.signal }),
  });
  return {
    tools,
    names: tools.map(({ id }) => id.slice(skill.name.length + 1)),
    diagnostics: redactor.redactJson(diagnostics), // A process that ends may have printed what it was given.
    close,
  };
}
