/** Lists page by page, the same for every route: `limit` entries, those after `after`; `next` says that there are more. */
import type { JsonObject, JsonSchema } from "@metier/base/json";
import { tableShape } from "@metier/base/shape";
import { boundedText, listOf, numberText } from "./query-shapes.ts";
import type { RouteAnswerShape, RouteOutcome } from "./route.ts";
import { replyWith } from "./route.ts";

export interface PageQuery {
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

/** What the reading of a list gets: one more than is shown, which tells whether there are more. */
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
  const about = `A page of ${what}. \`next\` is there when there are more: pass it as \`after\`.`;
  return { 200: { about, schema: listOf(item) } };
}

interface PageOptions<Item> {
  /** In the order of the list, from behind `after`. */
  read(window: PageWindow): Promise<readonly Item[]>;
  /** What `after` has to be for those behind it. */
  cursor(item: Item): string;
  /** `undefined`: it cannot be shown, and is passed over. */
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
