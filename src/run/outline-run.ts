/** From the plan of a run to what can be shown of it. */
import { trustAllows } from "../trust/trust-policy.ts";
import type { RunOutline } from "./run-outline.ts";
import type { RunPlan } from "./set-up-run.ts";

export function outlineRun(plan: RunPlan): RunOutline {
  const { prepared, model, tools, world, sandbox, network, limits, declared, granted, redactor } = plan;
  const { skill, trust } = prepared;
  return {
    skill: skill.name,
    location: skill.location,
    trust: trust.level,
    trustReason: trust.reason,
    model: model.id,
    tools: tools.map(({ name }) => name),
    toolsets: trustAllows(trust.level, "load-toolsets") ? skill.manifest.toolsets : [],
    hooks: plan.skillHooks.map((hook) => ({
      hook: hook.event,
      tools: hook.tools,
      ...("command" in hook && { command: hook.command }),
    })),
    env: Object.keys(prepared.env).sort(),
    capabilities: skill.manifest.capabilities,
    sandbox: { backend: sandbox?.backend ?? "absent", declared, granted, network, world },
    limits,
    system: redactor.redact(plan.system),
    message: redactor.redact(plan.message),
    diagnostics: plan.diagnostics,
  };
}
