/**
 * Named agents, which can carry out a skill that forks (`context: fork`, `agent: name`): their type, finding one by
 * name, detecting cycles back to the skill, and preloading skills.
 */
import { MetierError } from "@metier/base/errors";
import { done, type Refusal, type Result, refused } from "@metier/base/result";
import { nearestNames, showValue } from "@metier/base/text";
import {
  type Instructions,
  normaliseSkillName,
  type Scope,
  type SkillManifest,
  type TrustDecision,
  wrapInstructions,
} from "@metier/skills";
import { trustAllows } from "@metier/skills/trust";

export interface NamedAgent {
  /** In the grammar of skill names. */
  readonly name: string;
  /** `""` when there is none. */
  readonly description: string;
  readonly systemPrompt: string;
  /** A model or an alias; absent: the caller's. */
  readonly model?: string | undefined;
  /** Tool patterns; absent or empty: all of the caller's. */
  readonly tools?: readonly string[] | undefined;
  readonly disallowedTools: readonly string[];
  /** Skills whose instructions it gets up front, in this order. */
  readonly skills: readonly string[];
  readonly maxIterations?: number | undefined;
  readonly scope: Scope;
  /** The file; `""` for an agent passed as an object. */
  readonly location: string;
  readonly trust: TrustDecision;
}

/** An agent from the embedding program, which vouches for it. */
export interface GivenAgent {
  /** The name that skills use in `agent`. */
  readonly name: string;
  /** What the agent is for. Default: empty. */
  readonly description?: string;
  /** The system prompt; an agent without one is skipped, with a diagnostic. */
  readonly systemPrompt: string;
  /** An alias or `provider/model`. Default, also with `inherit`: the caller's model. */
  readonly model?: string;
  /** Patterns of the tools it may use. Default: all of the caller's. */
  readonly tools?: readonly string[];
  /** Patterns of tools it may not use. Default: none. */
  readonly disallowedTools?: readonly string[];
  /** Skills whose instructions it has from the start, in this order. Default: none. */
  readonly skills?: readonly string[];
  /** How many times its run may call the model. Default: as for any run. */
  readonly maxIterations?: number;
}

interface AgentRefusal extends Refusal {
  readonly hint: string;
}

const MOST_NAMED = 20;

/** By name, or as written in a file: `Code Reviewer` finds `code-reviewer`. */
export function findAgent(
  agents: ReadonlyMap<string, NamedAgent>,
  name: string,
): Result<NamedAgent, AgentRefusal> {
  const plain = normaliseSkillName(name);
  const agent = agents.get(name) ?? agents.get(plain) ?? builtInAgent(plain);
  if (agent === undefined)
    return refused({ message: `There is no agent ${showValue(name)}.`, hint: hintFor(agents, name) });
  // Whoever may not fork by its own declaration may not lead a fork either.
  if (!trustAllows(agent.trust.level, "fork-by-own-word")) {
    return refused({ message: `The agent \`${agent.name}\` is untrusted.`, hint: agent.trust.reason });
  }
  return done(agent);
}

function hintFor(agents: ReadonlyMap<string, NamedAgent>, name: string): string {
  const names = [...agents.keys()];
  if (names.length === 0) return "There are no agents. Add one as `.metier/agents/<name>.md`.";
  const near = nearestNames(name, names).map((each) => `\`${each}\``);
  const listed = names.slice(0, MOST_NAMED).map((each) => `\`${each}\``);
  const all = `Available: ${listed.join(", ")}${names.length > MOST_NAMED ? ", …" : ""}.`;
  return near.length > 0 ? `Did you mean ${near.join(" or ")}? ${all}` : all;
}

const READING = ["read_file", "list_files", "grep_search", "read_skill_file"] as const;

const BUILT_IN: readonly Pick<NamedAgent, "name" | "description" | "systemPrompt" | "tools">[] = [
  { name: "general-purpose", description: "Does what the skill says.", systemPrompt: "" },
  {
    name: "explore",
    description: "Looks things up and changes nothing.",
    systemPrompt:
      "You look things up in files and report what you found, with paths and lines. You change nothing.",
    tools: READING,
  },
  {
    name: "plan",
    description: "Reads, thinks and writes a plan.",
    systemPrompt:
      "You read what there is and answer with a plan: steps in order, with reasons. You change nothing.",
    tools: READING,
  },
];

/**
 * Agents that skills written for Claude Code name without providing them. An agent with the same name from a file or
 * the embedding program takes precedence.
 */
function builtInAgent(name: string): NamedAgent | undefined {
  const agent = BUILT_IN.find((known) => known.name === name);
  const trust = { level: "trusted", reason: "It is built into Metier." } as const;
  return agent && { ...agent, disallowedTools: [], skills: [], scope: "bundled", location: "", trust };
}

interface CycleStep {
  readonly kind: "skill" | "agent";
  readonly name: string;
}

interface ForkGraph {
  /** Of the usable skill with that name. */
  manifestOf(skill: string): Pick<SkillManifest, "context" | "agent"> | undefined;
  readonly agents: ReadonlyMap<string, Pick<NamedAgent, "skills">>;
}

/**
 * Whether a skill that forks would reach itself again: skill → agent → preloaded skill → its agent → … Two paths to one
 * agent aren't a cycle; only a path back is. Returns the path from the skill into the cycle, whose last step repeats an
 * earlier one; `undefined` if there is none.
 */
export function findCycle(skill: string, graph: ForkGraph): readonly CycleStep[] | undefined {
  const way: CycleStep[] = [];
  /** Nothing that starts here leads back. */
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

type PreloadedText = Pick<Instructions, "name" | "text" | "digest" | "origin">;

/** Reads a skill again; `undefined`, or a `MetierError`, if it can't be used. */
type ReadSkillInstructions = (skill: string) => Promise<PreloadedText | undefined>;

interface PreloadedSkills {
  /** In the agent's order; `""` if there is nothing to load. */
  readonly text: string;
  /** The skills in the text: the run's trust is at most theirs. */
  readonly skills: readonly string[];
}

/** A skill without instructions is skipped; a missing one is an error, because the agent relies on it. */
export async function preloadSkills(
  { name, skills }: Pick<NamedAgent, "name" | "skills">,
  readInstructions: ReadSkillInstructions,
): Promise<Result<PreloadedSkills, AgentRefusal>> {
  const loaded: PreloadedText[] = [];
  for (const skill of new Set(skills)) {
    const read = await readOrReason(skill, readInstructions);
    if (typeof read === "string") {
      return refused({
        message: `The agent \`${name}\` preloads the skill ${showValue(skill)}, but ${read}`,
        hint: "Make the skill usable, or remove it from the agent's `skills`.",
      });
    }
    if (read.text.trim() !== "") loaded.push(read);
  }
  return done({
    text: loaded.map((skill) => wrapInstructions(skill)).join("\n\n"),
    skills: loaded.map((skill) => skill.name),
  });
}

async function readOrReason(
  skill: string,
  readInstructions: ReadSkillInstructions,
): Promise<PreloadedText | string> {
  try {
    return (await readInstructions(skill)) ?? "there is no such skill.";
  } catch (error) {
    if (error instanceof MetierError) return `it cannot be read: ${error.message}`;
    throw error;
  }
}
