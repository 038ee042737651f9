/** Pages as Anthropic's clients read them: `data`, and `next_page` when there are more. */
import type { JsonObject } from "@metier/base/json";
import { type Shape, tableShape } from "@metier/base/shape";
import { boundedText } from "../../http/query-shapes.ts";
import { defineRoute, parameterNames, replyWith, type ServiceRoute } from "../../http/route.ts";
import type { ServiceContext } from "../../service-context.ts";
import { askRoute, type InnerRequest } from "../ask-route.ts";
import { ignored, listIn, numberLike } from "../foreign-shapes.ts";

export const GROUP = "anthropic";

export interface AnthropicPage {
  readonly limit?: number;
  readonly page?: string;
  /** Clients say with it that they know that the API is a beta. */
  readonly beta?: unknown;
}

export const PAGE_FIELDS = {
  limit: numberLike,
  page: boundedText(256, 1),
  beta: ignored as Shape<unknown>,
};

interface PageRoute {
  readonly path: string;
  readonly summary: string;
  /** The list of the API, whose path has the same names in braces: `GET /v1/agents`. */
  readonly list: string;
  show(asking: InnerRequest, context: ServiceContext, item: JsonObject): Promise<JsonObject>;
}

/** A list of the API as a page. */
export function pageRoute({ path, summary, list, show }: PageRoute): ServiceRoute {
  return defineRoute<AnthropicPage>({
    method: "GET",
    path,
    scope: "read",
    group: GROUP,
    summary,
    query: tableShape<AnthropicPage>(PAGE_FIELDS),
    answers: { 200: { about: "A page." } },
    async handle(request, context) {
      const { limit, page: after } = request.query;
      const params = Object.fromEntries(parameterNames(path).map((name) => [name, request.param(name)]));
      const found = await askRoute(list, request, context, { params, query: { limit, after } });
      if (!found.ok) return found;
      const data: JsonObject[] = [];
      // One after the other: each is several requests to the store, and a page has up to 500.
      for (const item of listIn(found.value.data)) data.push(await show(request, context, item));
      return replyWith({ data, next_page: found.value.next ?? null });
    },
  });
}
