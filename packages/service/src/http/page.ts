/** Paged lists, the same for every route: `limit` entries after `after`; `next` is set if there are more. */
import type { JsonObject, JsonSchema } from "@metier/base/json";
import { tableShape } from "@metier/base/shape";
import { boundedText, listOf, numberText } from "./query-shapes.ts";
import type { RouteAnswerShape, RouteOutcome } from "./route.ts";
import { replyWith } from "./route.ts";

export interface PageQuery {
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** The window for reading a list: one item more than is shown, to know whether there are more. */
interface PageWindow {
  readonly after: string | undefined;
  readonly limit: number;
}

export const DEFAULT_PAGE = 50;
const MOST_PAGE = 500;

/** For routes that take more than a page. */
export const pageFields = { after: boundedText(256, 1), limit: numberText(1, MOST_PAGE) };

export const pageShape = tableShape<PageQuery>(pageFields);

export function pageAnswer(what: string, item: JsonSchema): Readonly<Record<200, RouteAnswerShape>> {
  const about = `One page of ${what}. If there are more, \`next\` is set: pass it as \`after\`.`;
  return { 200: { about, schema: listOf(item) } };
}

interface PageOptions<Item> {
  /** In list order, after `after`. */
  read(window: PageWindow): Promise<readonly Item[]>;
  /** The `after` value for the items after this one. */
  cursor(item: Item): string;
  /** `undefined`: it can't be shown, and is skipped. */
  show(item: Item): JsonObject | undefined | Promise<JsonObject | undefined>;
}

export async function replyPage<Item>(
  { after, limit = DEFAULT_PAGE }: PageQuery,
  { read, cursor, show }: PageOptions<Item>,
): Promise<RouteOutcome> {
  const found = await read({ after, limit: limit + 1 });
  const page = found.slice(0, limit);
  const last = found.length > limit ? page.at(-1) : undefined;
  const data = (await Promise.all(page.map(show))).filter((item) => item !== undefined);
  return replyWith({ data, ...(last !== undefined && { next: cursor(last) }) });
}
