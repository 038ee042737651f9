/**
 * What a machine reports about its skills: the port behind the inspector's routes. Everything in a response may be
 * shown to the tenant: it contains no server paths, and it is bounded.
 */
import type { JsonObject } from "@metier/base/json";
import type { Result } from "@metier/base/result";
import type { Metier } from "@metier/runtime";
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

/** Skills for models of clients. */
export interface ServedSkills {
  readonly metier: Metier;
  /** The same text without server paths. */
  hide(text: string): string;
}

export interface Insight {
  /** What this tenant may see now. */
  open(tenant: string): Promise<SkillInsight>;
  /** This tenant's skills, for its clients. The same object as long as the skills are the same. */
  served(tenant: string): Promise<ServedSkills>;
  /** Called when the server's skills change; returns a function that ends it. */
  onChange(listener: () => void): () => void;
}

export interface PlanCaller {
  readonly userId?: string | undefined;
  /** Whether the system prompt may be shown. */
  readonly seesSystem: boolean;
}

export interface SkillInsight {
  readonly catalog: ApiCatalog;
  /** Names of usable skills. */
  readonly usable: readonly string[];
  find(query: string, limit: number): Promise<ApiFind>;
  listing(budget: number): Promise<ApiListing>;
  /** `undefined`: there is no such address. */
  skill(address: string): Promise<ApiSkill | undefined>;
  /** `undefined`: there is no such skill, or it has no such file. */
  file(address: string, path: string): Promise<ApiFileText | undefined>;
  /** Two versions, by digest. */
  diff(address: string, from: string, to: string): Promise<Result<ApiDiff, HttpRefusal>>;
  /** What a run of this order would do. */
  plan(order: JsonObject, caller: PlanCaller): Promise<ApiPlan>;
  routing(): Promise<ApiRouting>;
  /** `undefined`: there is no usable skill with this name. */
  why(query: string, skill: string): Promise<ApiRoutingWhy | undefined>;
  evals(): Promise<readonly ApiEvalSummary[]>;
  iteration(skill: string, number: number): Promise<ApiIteration | undefined>;
  /** A file that an evaluation run left, relative to its iteration. */
  output(skill: string, number: number, path: string): Promise<ApiFileText | undefined>;
}
