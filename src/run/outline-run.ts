/** From the plan of a run to what can be shown of it. */
import type { RunOutline } from "./run-outline.ts";
import type { RunPlan } from "./set-up-run.ts";

export function outlineRun(plan: RunPlan): RunOutline {
  const { prepared, model, tools, world, sandbox, network, limits, declared, redactor } = plan;
  const { skill, trust } = prepared;
  return {
    skill: skill.name,
    location: skill.location,
    trust: trust.level,
    trustReason: trust.reason,
    model: model.id,
    tools: tools.map(({ name }) => name),
    env: Object.keys(prepared.env).sort(),
    sandbox: { backend: sandbox?.backend ?? "absent", declared, network, world },
    limits,
    system: redactor.redact(plan.system),
    message: redactor.redact(plan.message),
    diagnostics: plan.diagnostics,
  };
}
