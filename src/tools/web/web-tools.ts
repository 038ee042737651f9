/** The tools that reach the web. */
import type { FetchLimits } from "../../egress/guarded-fetch.ts";
import type { Tool } from "../tool.ts";
import { webFetchTool } from "./web-fetch.ts";
import { type SearchProvider, webSearchTool } from "./web-search.ts";

export interface WebToolOptions {
  readonly fetch?: FetchLimits;
  /** Without it there is no `web_search`. */
  readonly search?: SearchProvider;
}

export function webTools({ fetch, search }: WebToolOptions = {}): readonly Tool[] {
  return [webFetchTool(fetch), ...(search ? [webSearchTool(search)] : [])];
}
