/**
 * Reads a client's request: bounded before it is read, and checked against the route's shapes. Never throws for what a
 * client sends.
 */
import { done, type Result } from "@metier/base/result";
import { readShape, type Shape, type ShapeFault } from "@metier/base/shape";
import { type HttpRefusal, refuse, refuseRequest } from "./refusal.ts";
import { parameterNames, type ServiceRoute } from "./route.ts";

const MOST_DEPTH = 64;
/** For everything that a path may name: nothing else is looked up. */
const PLAIN_ID = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;
/** Parts that name a skill or user: any text, because they are only compared with existing ones. */
const FREE_PARTS: ReadonlySet<string> = new Set(["address", "skill", "user"]);
const MOST_ADDRESS = 512;
const MOST_FAULTS = 5;
/** The suffix of a query parameter that may appear several times. */
const LIST = "[]";

type Read<Value> = Result<Value, HttpRefusal>;

/** The parts of a matching path, by name, decoded. `{path*}` is left to the path gate. */
export function readPathParts(
  route: ServiceRoute,
  found: Readonly<Record<string, string>>,
): Read<Map<string, string>> {
  const params = new Map<string, string>();
  for (const name of parameterNames(route.path)) {
    const value = found[name] ?? "";
    const isAllowed = FREE_PARTS.has(name) ? value.length <= MOST_ADDRESS : PLAIN_ID.test(value);
    if (!route.path.includes(`{${name}*}`) && !isAllowed) {
      return refuse(
        404,
        "not_found",
        `The \`${name}\` in this address has an invalid form, so nothing matches it.`,
        "Use the id or name exactly as the API returned it.",
      );
    }
    params.set(name, value);
  }
  return done(params);
}

export function readQuery(shape: Shape<unknown> | undefined, search: URLSearchParams): Read<unknown> {
  const names = [...search.keys()];
  const twice = names.find((name, index) => !name.endsWith(LIST) && names.indexOf(name) !== index);
  if (twice !== undefined)
    return refuseRequest("A query parameter appears twice.", "Send each parameter once.");
  if (shape === undefined) return done({});
  const given = names.map((name) => [name, name.endsWith(LIST) ? search.getAll(name) : search.get(name)]);
  return readValue(shape, Object.fromEntries(given), "query");
}

/** The bytes, if they are within the limit. */
export async function readBytes(request: Request, most: number): Promise<Read<Buffer>> {
  const tooLarge = refuse(
    413,
    "body_too_large",
    `The body is larger than ${most} bytes.`,
    "Send a smaller body, or raise the service's limit.",
    { Connection: "close" },
  );
  if (Number(request.headers.get("content-length") ?? 0) > most) return tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length;
      if (size > most) return tooLarge;
      chunks.push(chunk);
    }
  } catch {
    return refuseRequest("The body was cut off.", "Send the request again."); // The client has disconnected, or broke its own framing.
  }
  return done(Buffer.concat(chunks));
}

/** The fields and files of a form. */
export async function readForm(request: Request, most: number): Promise<Read<FormData>> {
  const bytes = await readBytes(request, most);
  if (!bytes.ok) return bytes;
  const type = request.headers.get("content-type") ?? "";
  try {
    return done(
      await new Response(new Uint8Array(bytes.value), { headers: { "Content-Type": type } }).formData(),
    );
  } catch {
    return refuseRequest("The body is not a form.", "Send it as `multipart/form-data`, with its boundary.");
  }
}

export async function readJsonBody(
  shape: Shape<unknown>,
  request: Request,
  most: number,
): Promise<Read<unknown>> {
  const bytes = await readBytes(request, most);
  if (!bytes.ok) return bytes;
  const parsed = parseBody(bytes.value);
  return parsed.ok ? readValue(shape, parsed.value, "body") : parsed;
}

/** A body as JSON, not nested too deeply. An empty one is an empty object. */
export function parseBody(bytes: Buffer): Read<unknown> {
  const text = bytes.toString("utf8");
  if (deepest(text) > MOST_DEPTH) {
    return refuseRequest(`The body is nested more than ${MOST_DEPTH} levels deep.`, "Send a flatter value.");
  }
  try {
    return done(text === "" ? {} : JSON.parse(text));
  } catch {
    return refuseRequest(
      "The body is not valid JSON.",
      "Send one JSON object, with `Content-Type: application/json`.",
    );
  }
}

/** The input, checked against a shape. `where` is its name in messages. */
export function readValue(shape: Shape<unknown>, value: unknown, where: string): Read<unknown> {
  const read = readShape(shape, value);
  return read.ok ? read : refuseRequest(...tellFaults(read.refusal, where));
}

function tellFaults(faults: readonly ShapeFault[], where: string): [message: string, hint: string] {
  const messages = [...new Set(faults.map(({ message }) => message))].slice(0, MOST_FAULTS);
  const hint = faults.find((fault) => fault.hint !== undefined)?.hint;
  return [
    `Invalid ${where}. ${messages.join(" ")}`,
    hint ?? "`GET /v1/openapi.json` describes the allowed values.",
  ];
}

/** Nested brackets, ignoring those in strings: enough to limit recursion. */
function deepest(text: string): number {
  let depth = 0;
  let most = 0;
  let isInText = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isInText) {
      if (character === "\\") at += 1;
      else if (character === '"') isInText = false;
    } else if (character === '"') isInText = true;
    else if (character === "{" || character === "[") most = Math.max(most, ++depth);
    else if (character === "}" || character === "]") depth -= 1;
  }
  return most;
}
