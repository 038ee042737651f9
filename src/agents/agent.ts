/** The words of named agents: who may carry out a skill that forks (`context: fork`, `agent: name`). */
import type { Scope } from "../skill/scope.ts";
import type { TrustDecision } from "../skill/skill.ts";

export interface Agent {
  /** In the grammar of skill names. */
  readonly name: string;
  /** `""` when there is none. */
  readonly description: string;
  readonly systemPrompt: string;
  /** A model or an alias; absent: the caller's. */
  readonly model?: string;
  /** Tool patterns; absent or empty: all the caller has. */
  readonly tools?: readonly string[];
  readonly disallowedTools: readonly string[];
  /** Names of the skills whose instructions it is given beforehand, in this order. */
  readonly skills: readonly string[];
  readonly maxIterations?: number;
  readonly scope: Scope;
  /** The file; `""` for an agent given as an object. */
  readonly location: string;
  readonly trust: TrustDecision;
}

/** An agent of the embedding program, which vouches for it. */
export interface GivenAgent {
  readonly name: string;
  readonly description?: string;
  readonly systemPrompt: string;
  readonly model?: string;
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly skills?: readonly string[];
  readonly maxIterations?: number;
}
