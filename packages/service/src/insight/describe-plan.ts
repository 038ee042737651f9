/** A run's preview for the API: which tools, by which rule, with which reach and limits. */
import type { JsonObject } from "@metier/base/json";
import type { RunOutline } from "@metier/run";
import type { PlannedRun } from "@metier/runtime";
import type { ApiPlan } from "../api.ts";
import { withoutPlaces } from "../runs/project-event.ts";
import { boundText, showDiagnostics } from "./bounds.ts";

const MOST_PROMPT = 512 * 1024;
const HARMLESS: ReadonlySet<string> = new Set(["read", "skill", "talk"]);

interface PlanView {
  readonly seesSystem: boolean;
  /** Every call that isn't read-only needs approval, whatever a rule allows. */
  readonly asksAlways: boolean;
}

export function describePlan(planned: PlannedRun, view: PlanView): ApiPlan {
  return planned.ok ? describeOutline(planned.outline, view) : describeRefusal(planned.result);
}

function describeOutline(outline: RunOutline, { seesSystem, asksAlways }: PlanView): ApiPlan {
  const { sandbox, skill, trust, trustReason, model, env, capabilities } = outline;
  return {
    ok: true,
    skill,
    trust,
    trustReason,
    model,
    tools: outline.toolRules.map((tool) => decideTool(tool, asksAlways)),
    hooks: outline.hooks.map(({ hook, tools, command }) => {
      const about = tools.length === 0 ? "every tool" : tools.join(", ");
      const words = command === undefined ? "a command that cannot be parsed" : showCommand(command);
      return `${hook} (${about}): ${words}`;
    }),
    env,
    capabilities,
    backend: sandbox.backend,
    declared: withoutPlaces({ ...sandbox.declared }) as JsonObject,
    granted: withoutPlaces({ ...sandbox.granted }) as JsonObject,
    limits: { ...outline.limits } as unknown as JsonObject,
    system: seesSystem ? boundText(outline.system, MOST_PROMPT) : "",
    message: boundText(outline.message, MOST_PROMPT),
    diagnostics: showDiagnostics(outline.diagnostics, ""),
  };
}

function decideTool(
  { name, effect, answer, rule }: RunOutline["toolRules"][number],
  asksAlways: boolean,
): { readonly name: string; readonly decision: "allow" | "ask" | "deny"; readonly rule: string } {
  const isAsked = asksAlways && answer === "allow" && !HARMLESS.has(effect);
  if (!isAsked) return { name, decision: answer, rule };
  return { name, decision: "ask", rule: "asks before every call that is not read-only" };
}

function showCommand(command: NonNullable<RunOutline["hooks"][number]["command"]>): string {
  return typeof command === "string" ? command : JSON.stringify(command);
}

function describeRefusal({ refusal, error, status }: Extract<PlannedRun, { ok: false }>["result"]): ApiPlan {
  if (refusal === undefined)
    return { ok: false, ...(error ?? { code: status, message: "It would not run." }) };
  const { reason, message, hint } = refusal;
  return { ok: false, code: reason, message, ...(hint !== undefined && { hint }) };
}
