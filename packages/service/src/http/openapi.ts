/** The OpenAPI 3.1 document, generated only from the route table, with the scope of each route. */
import type { Json, JsonObject, JsonSchema } from "@metier/base/json";
import { schemaOf } from "@metier/base/shape";
import { ROLE_SCOPES } from "../keys/scopes.ts";
import { parameterNames, type RouteAnswerShape, type ServiceRoute } from "./route.ts";

const ERROR_SCHEMA: JsonSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message", "hint"],
      properties: { code: { type: "string" }, message: { type: "string" }, hint: { type: "string" } },
    },
  },
};

export function describeApi(routes: readonly ServiceRoute[], version: string): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = openApiPath(route.path);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeRoute(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Metier",
      version,
      description:
        "Start, follow and approve runs of skills. `x-metier-scope` is the scope a key needs; `x-metier-roles` lists the scopes of each role. `admin` includes every other scope. Routes for clients of other APIs, such as `/anthropic` and `/openai/v1`, are not listed: their vendors describe them.",
    },
    "x-metier-roles": Object.fromEntries(
      Object.entries(ROLE_SCOPES).map(([role, scopes]) => [role, [...scopes]]),
    ),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      },
      schemas: { Error: ERROR_SCHEMA },
    },
  };
}

export function openApiPath(path: string): string {
  return path.replace("*}", "}");
}

function describeRoute(route: ServiceRoute): JsonObject {
  const isOpen = route.scope === "none";
  return {
    operationId: operationName(route),
    summary: route.summary,
    tags: [route.group],
    "x-metier-scope": route.scope,
    security: isOpen ? [] : [{ bearer: [] }, { apiKey: [] }],
    parameters: describeParameters(route),
    ...(describeBody(route) ?? {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(route.answers).map(([status, shape]) => [status, describeAnswer(shape)]),
      ),
      default: {
        description: "The request was refused.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    },
  };
}

function describeParameters({ path, query, headers = {} }: ServiceRoute): readonly Json[] {
  const schema = query === undefined ? {} : schemaOf(query);
  const fields = (schema.properties ?? {}) as JsonObject;
  const needed = (schema.required ?? []) as readonly string[];
  return [
    ...parameterNames(path).map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...Object.entries(fields).map(([name, field]) => {
      return { name, in: "query", required: needed.includes(name), schema: field };
    }),
    ...Object.entries(headers).map(([name, description]) => {
      return { name, in: "header", required: false, description, schema: { type: "string" } };
    }),
  ];
}

function describeBody({ takes, body }: ServiceRoute): JsonObject | undefined {
  if (takes === "archive") {
    const schema = { type: "string", format: "binary" };
    const content = { "application/zip": { schema }, "application/gzip": { schema } };
    return { requestBody: { required: true, content } };
  }
  if (body === undefined) return undefined;
  return { requestBody: { required: true, content: { "application/json": { schema: schemaOf(body) } } } };
}

function describeAnswer({ about, type = "application/json", schema = {} }: RouteAnswerShape): JsonObject {
  return { description: about, content: { [type]: { schema } } };
}

/** `getV1RunsIdEvents`. */
function operationName({ method, path }: ServiceRoute): string {
  const words = path.match(/\w+/g) ?? [];
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
