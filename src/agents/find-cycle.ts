/**
 * Whether a skill that forks would come back to itself: skill → agent → skill it is given beforehand → its agent → …
 * Two ways to one agent are no cycle; only a way back is.
 */
import type { SkillManifest } from "../skill/manifest.ts";
import { normaliseSkillName } from "../skill/skill-name.ts";
import type { Agent } from "./agent.ts";

export interface CycleStep {
  readonly kind: "skill" | "agent";
  readonly name: string;
}

export interface ForkGraph {
  /** Of the usable skill of that name. */
  manifestOf(skill: string): Pick<SkillManifest, "context" | "agent"> | undefined;
  readonly agents: ReadonlyMap<string, Pick<Agent, "skills">>;
}

/** The way from the skill into the cycle, its last step being one of those before; `undefined` when there is none. */
export function findCycle(skill: string, graph: ForkGraph): readonly CycleStep[] | undefined {
  const way: CycleStep[] = [];
  /** Whatever starts there leads nowhere back. */
  const finished = new Set<string>();
  const visit = (step: CycleStep): boolean => {
    if (finished.has(keyOf(step))) return false;
    const isBack = way.some((earlier) => keyOf(earlier) === keyOf(step));
    way.push(step);
    if (isBack || nextSteps(step, graph).some(visit)) return true;
    way.pop();
    finished.add(keyOf(step));
    return false;
  };
  return visit({ kind: "skill", name: skill }) ? way : undefined;
}

/** `deploy` → agent `ops` → `deploy` */
export function describeCycle(way: readonly CycleStep[]): string {
  return way.map(({ kind, name }) => (kind === "agent" ? `agent \`${name}\`` : `\`${name}\``)).join(" → ");
}

function nextSteps(step: CycleStep, { manifestOf, agents }: ForkGraph): readonly CycleStep[] {
  if (step.kind === "agent") {
    return (agents.get(step.name)?.skills ?? []).map((skill) => ({ kind: "skill", name: skill }));
  }
  const manifest = manifestOf(step.name);
  if (manifest?.context !== "fork" || manifest.agent === undefined) return [];
  const name = agents.has(manifest.agent) ? manifest.agent : normaliseSkillName(manifest.agent);
  return [{ kind: "agent", name }];
}

function keyOf({ kind, name }: CycleStep): string {
  return `${kind}:${name}`;
}
