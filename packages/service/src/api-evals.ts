/** What the API answers with about evaluations and routing, as types alone. The door is `api.ts`. */
import type { JsonObject } from "@metier/base/json";
import type { ApiHit } from "./api.ts";

/** `GET /v1/evals`. */
export interface ApiEvalSummary {
  readonly skill: string;
  readonly iterations: readonly {
    readonly number: number;
    readonly at: string;
    readonly model: string;
    readonly digest?: string;
    readonly runs: number;
    readonly passRate: ApiSpread;
    readonly baseline?: ApiSpread;
    readonly cost?: number;
    readonly ungraded: number;
  }[];
}

export interface ApiSpread {
  readonly mean: number;
  readonly stddev: number;
}

/** `GET /v1/evals/{skill}/{number}`: what an iteration left behind, without places. */
export interface ApiIteration {
  readonly skill: string;
  readonly number: number;
  /** `benchmark.json`, of tasks with the skill and without it. */
  readonly benchmark?: JsonObject;
  /** `triggers.json`, of requests that are for the skill or not. */
  readonly triggers?: JsonObject;
  /** What was asked for, of each eval. */
  readonly evals?: readonly ApiEvalTask[];
}

export interface ApiEvalTask {
  readonly id: string;
  readonly name: string;
  readonly prompt: string;
  readonly expected?: string;
}

/** `GET /v1/routing`. */
export interface ApiRouting {
  readonly names: readonly string[];
  /** Row: whose words; column: how well that skill answers to them. Absent where there are too many skills. */
  readonly matrix?: readonly (readonly number[])[];
  readonly pairs: readonly {
    readonly skills: readonly [string, string];
    readonly verdict: string;
    readonly confusion: number;
    readonly similarity: number;
    readonly suggestion: string;
  }[];
  /** There are more skills than are compared with each other, which are this many: then there are no pairs. */
  readonly mostCompared?: number;
  /** Where requests went that somebody wrote down, by words alone or by a model. Absent: none were asked. */
  readonly routed?: readonly ApiRouted[];
}

export interface ApiRouted {
  /** `words`, or the name of a model. */
  readonly by: string;
  readonly passed: number;
  readonly total: number;
  readonly queries: readonly {
    readonly query: string;
    /** The skill it is for; `none`; or `not` and a name. */
    readonly wanted: string;
    readonly chosen: string;
    readonly isRight: boolean;
  }[];
}

/** `GET /v1/routing/why?q=&skill=`: what would make this skill win. */
export interface ApiRoutingWhy {
  readonly skill: string;
  /** 1 is the best; absent: it was not found at all. */
  readonly rank?: number;
  readonly winner?: ApiHit;
  readonly hit?: ApiHit;
  /** Words of the request that the winner has and this skill lacks, those that count most first. */
  readonly lacks: readonly { readonly word: string; readonly gain: number }[];
}
