/**
 * The options of calls that only read: listings, instructions, files, filters. The compiler checks them against the
 * types.
 */
import { checkKeys, type OptionKeys } from "@metier/base/shape";
import type { ListingOptions, PlanOptions, SkillFilter } from "@metier/skills";
import type { FindOptions, ResourceOptions } from "./disclosure.ts";

const FILTER: OptionKeys<SkillFilter> = {
  includeDisabled: true,
  includeUnavailable: true,
  includeShadowed: true,
  scope: true,
};
const LISTING: OptionKeys<ListingOptions> = {
  format: true,
  location: true,
  mountPath: true,
  activation: true,
  descriptions: true,
};
const PLAN: OptionKeys<PlanOptions> = { ...LISTING, budget: true, countTokens: true };
const FIND: OptionKeys<FindOptions> = { onProgress: true };
const RESOURCE: OptionKeys<ResourceOptions> = { range: true, maxBytes: true, as: true };

const CALLS = {
  list: FILTER,
  names: FILTER,
  renderListing: LISTING,
  planListing: PLAN,
  getInstructions: { whole: true },
  readResource: RESOURCE,
  activate: { canRun: true },
  find: FIND,
} as const;

/** Returns the options unchanged; throws `UsageError` with the code `option.unknown`. */
export function checkReading<Options>(call: keyof typeof CALLS, options: Options): Options {
  checkKeys(call, options, CALLS[call]);
  return options;
}
