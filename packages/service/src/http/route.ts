/**
 * An API route as data: its path, who may use it, its input and output, and its handler. Routing, scope checks and the
 * OpenAPI document all use this one description.
 */
import type { Json, JsonSchema } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import type { Shape } from "@metier/base/shape";
import type { Identity } from "../keys/identity.ts";
import type { KeyScope } from "../keys/scopes.ts";
import type { ServiceContext } from "../service-context.ts";
import type { RequestClient } from "./browser-guard.ts";
import type { HttpRefusal } from "./refusal.ts";

/**
 * `none`: anyone who can reach the server. `any`: any key. `operator`: an admin key, or someone on this machine.
 * `platform`: an admin key of the tenant `default`.
 */
type RouteScope = KeyScope | "none" | "any" | "operator" | "platform";

type RouteMethod = "GET" | "POST" | "PUT" | "DELETE";

/** A JSON response; or, for streams and files, a complete response. */
export type RouteAnswer =
  | {
      readonly status: 200 | 201 | 202;
      readonly body: Json;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | Response;

export type RouteOutcome = Result<RouteAnswer, HttpRefusal>;

/** What a handler gets: everything in it was checked. */
export interface RouteRequest<Query, Body> {
  readonly query: Query;
  readonly body: Body;
  readonly headers: Headers;
  /** Who asks. On a public route: nobody. */
  readonly identity: Identity;
  readonly client: RequestClient;
  /** A part of the path, by its name between braces. */
  param(name: string): string;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

interface RouteDefinition<Query, Body> {
  readonly method: RouteMethod;
  /** With names in braces: `/v1/runs/{id}`. `{path*}` at the end matches the rest. */
  readonly path: string;
  readonly scope: RouteScope;
  readonly summary: string;
  /** Its group in the documentation. */
  readonly group: string;
  /** Of strings: a query has nothing else. */
  readonly query?: Shape<Query>;
  readonly body?: Shape<Body>;
  /**
   * `archive`: the body is a zip or tar.gz as bytes, and `body` is a `Buffer`. `form`: the body is `multipart/form-data`
   * with files, and `body` is a `FormData`. `raw`: the handler reads the body, which has the size limit of JSON, and
   * `body` is a `Buffer`.
   */
  readonly takes?: "json" | "archive" | "form" | "raw";
  /** Request headers used here, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  /** By status: the content of the response. */
  readonly answers: Readonly<Record<number, RouteAnswerShape>>;
  handle(request: RouteRequest<Query, Body>, context: ServiceContext): Promise<RouteOutcome>;
}

export interface RouteAnswerShape {
  readonly about: string;
  /** Default: `application/json`. */
  readonly type?: string;
  readonly schema?: JsonSchema;
}

/** A route whose types were checked where it was written. */
export type ServiceRoute = RouteDefinition<unknown, unknown>;

export function defineRoute<Query = Record<never, never>, Body = undefined>(
  route: RouteDefinition<Query, Body>,
): ServiceRoute {
  return route as unknown as ServiceRoute;
}

export function replyWith(body: Json | object, status: 200 | 201 | 202 = 200): RouteOutcome {
  return done({ status, body: body as Json });
}

/** The names in braces of a path, without the star. */
export function parameterNames(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\*?\}/g)].map(([, name = ""]) => name);
}
