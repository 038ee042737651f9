/**
 * What one machine can tell about its skills, for people who look: the port that the inspector's routes stand on. Everything
 * in an answer may be shown to the tenant: it holds no place of the server, and it is bounded.
 */
import type { JsonObject } from "@metier/base/json";
import type { Result } from "@metier/base/result";
import type {
  ApiCatalog,
  ApiDiff,
  ApiEvalSummary,
  ApiFileText,
  ApiFind,
  ApiIteration,
  ApiListing,
  ApiPlan,
  ApiRouting,
  ApiRoutingWhy,
  ApiSkill,
} from "../api.ts";
import type { HttpRefusal } from "../http/refusal.ts";

export interface Insight {
  /** What this tenant may see, as it is now. */
  open(tenant: string): Promise<SkillInsight>;
  /** Told when skills of the server have changed; gives what ends it. */
  onChange(listener: () => void): () => void;
}

export interface PlanCaller {
  readonly userId?: string | undefined;
  /** Whether the system prompt may be shown. */
  readonly seesSystem: boolean;
}

export interface SkillInsight {
  readonly catalog: ApiCatalog;
  /** Names of skills that can be used. */
  readonly usable: readonly string[];
  find(query: string, limit: number): Promise<ApiFind>;
  listing(budget: number): Promise<ApiListing>;
  /** `undefined`: there is none of this address. */
  skill(address: string): Promise<ApiSkill | undefined>;
  /** `undefined`: there is no such skill, or it has no such file. */
  file(address: string, path: string): Promise<ApiFileText | undefined>;
  /** Two versions, by digest. */
  diff(address: string, from: string, to: string): Promise<Result<ApiDiff, HttpRefusal>>;
  /** What a run of this order would do. */
  plan(order: JsonObject, caller: PlanCaller): Promise<ApiPlan>;
  routing(): Promise<ApiRouting>;
  /** `undefined`: no usable skill has this name. */
  why(query: string, skill: string): Promise<ApiRoutingWhy | undefined>;
  evals(): Promise<readonly ApiEvalSummary[]>;
  iteration(skill: string, number: number): Promise<ApiIteration | undefined>;
  /** A file that a run of an evaluation left, below its iteration. */
  output(skill: string, number: number, path: string): Promise<ApiFileText | undefined>;
}
