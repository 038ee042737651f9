/** `--dry-run`: what a run would be. Names of variables only, never their values. */
import type { RunPlan } from "../../run/set-up-run.ts";
import { type Style, safeLine, safeText } from "./style.ts";

export function planJson(plan: RunPlan): unknown {
  const { prepared, model, tools, world, sandbox, network, limits, declared } = plan;
  return {
    skill: prepared.skill.name,
    trust: prepared.trust.level,
    model: model.id,
    tools: tools.map(({ name }) => name),
    env: Object.keys(prepared.env).sort(),
    sandbox: { backend: sandbox?.backend ?? "absent", declared, network, world },
    limits,
    system: plan.redactor.redact(plan.system),
    message: plan.redactor.redact(plan.message),
    diagnostics: plan.diagnostics,
  };
}

export function planText(plan: RunPlan, style: Style): string {
  const { prepared, model, tools, world, sandbox, network, limits } = plan;
  const rows: readonly (readonly [string, string])[] = [
    ["skill", `${prepared.skill.name}  ${prepared.skill.location}`],
    ["trust", `${prepared.trust.level}: ${prepared.trust.reason}`],
    ["model", model.id],
    ["tools", tools.map(({ name }) => name).join(", ") || "none"],
    ["variables", Object.keys(prepared.env).sort().join(", ") || "none"],
    ["sandbox", sandbox?.backend ?? "none works here: no command can be run"],
    ["network", network.join(", ") || "none"],
    ["reads", world.readable.join(", ")],
    ["writes", world.writable.join(", ")],
    ["hidden", world.masked.join(", ") || "nothing below these"],
    ["limits", describeLimits(limits)],
  ];
  const table = rows.map(([name, value]) => `${style.dim(name.padEnd(10))} ${safeLine(value)}`);
  const { redactor } = plan;
  return [
    ...table,
    "",
    style.bold("System prompt"),
    safeText(redactor.redact(plan.system)),
    "",
    style.bold("First message"),
    safeText(redactor.redact(plan.message)),
  ].join("\n");
}

function describeLimits({ maxIterations, timeoutMs, maxTokens, maxCost }: RunPlan["limits"]): string {
  const parts = [`${maxIterations} steps`, `${timeoutMs / 1000} s`];
  if (maxTokens !== undefined) parts.push(`${maxTokens} tokens`);
  if (maxCost !== undefined) parts.push(`cost ${maxCost}`);
  return parts.join(", ");
}
