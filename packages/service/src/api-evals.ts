/** Response types about evaluations and routing. The door is `api.ts`. */
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

/** `GET /v1/evals/{skill}/{number}`: what an iteration left behind, without server paths. */
export interface ApiIteration {
  readonly skill: string;
  readonly number: number;
  /** `benchmark.json`: tasks with and without the skill. */
  readonly benchmark?: JsonObject;
  /** `triggers.json`: requests that are or aren't for the skill. */
  readonly triggers?: JsonObject;
  /** The task of each eval. */
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
  /** Row: whose words; column: how well that skill matches them. Absent if there are too many skills. */
  readonly matrix?: readonly (readonly number[])[];
  readonly pairs: readonly {
    readonly skills: readonly [string, string];
    readonly verdict: string;
    readonly confusion: number;
    readonly similarity: number;
    readonly suggestion: string;
  }[];
  /** There are more skills than this number, so they aren't compared and there are no pairs. */
  readonly mostCompared?: number;
  /** Where recorded requests went, by words alone or by a model. Absent: none. */
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
  /** 1 is the best; absent: it wasn't found. */
  readonly rank?: number;
  readonly winner?: ApiHit;
  readonly hit?: ApiHit;
  /** Words of the request that the winner has and this skill lacks, most important first. */
  readonly lacks: readonly { readonly word: string; readonly gain: number }[];
}
