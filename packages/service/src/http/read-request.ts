/** What a client sends, bounded before it is read and held to the route's shapes. Nothing here throws for what is sent. */
import { done, type Result } from "@metier/base/result";
import { readShape, type Shape, type ShapeFault } from "@metier/base/shape";
import { type HttpRefusal, refuse, refuseRequest } from "./refusal.ts";
import { parameterNames, type ServiceRoute } from "./route.ts";

const MOST_DEPTH = 64;
/** Of everything that a path may name: nothing else is looked up. */
const PLAIN_ID = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;
/** Parts that name a skill or a user: any text, since they are only looked up among those that are there. */
const FREE_PARTS: ReadonlySet<string> = new Set(["address", "skill", "user"]);
const MOST_ADDRESS = 512;
const MOST_FAULTS = 5;

type Read<Value> = Result<Value, HttpRefusal>;

/** Of a path that matched: by name, decoded. `{path*}` is for the path gate to judge. */
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
        `The \`${name}\` in this address is not one that anything here has.`,
        "Use an id or a name exactly as the API gave it.",
      );
    }
    params.set(name, value);
  }
  return done(params);
}

export function readQuery(shape: Shape<unknown> | undefined, search: URLSearchParams): Read<unknown> {
  const names = [...search.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return refuseRequest("A query parameter is there twice.", "Send each one once.");
  if (shape === undefined) return done({});
  return held(shape, Object.fromEntries(search), "query");
}

/** The bytes, if they are no more than allowed. */
export async function readBytes(request: Request, most: number): Promise<Read<Buffer>> {
  const tooLarge = refuse(
    413,
    "body_too_large",
    `The body is larger than ${most} bytes.`,
    "Send less, or raise the limit of the service.",
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
    return refuseRequest("The body was cut off.", "Send the request again."); // The client has gone, or broke its own framing.
  }
  return done(Buffer.concat(chunks));
}

export async function readJsonBody(
  shape: Shape<unknown>,
  request: Request,
  most: number,
): Promise<Read<unknown>> {
  const bytes = await readBytes(request, most);
  if (!bytes.ok) return bytes;
  const text = bytes.value.toString("utf8");
  if (deepest(text) > MOST_DEPTH) {
    return refuseRequest(`The body is nested more than ${MOST_DEPTH} levels deep.`, "Send a flatter value.");
  }
  try {
    return held(shape, text === "" ? {} : JSON.parse(text), "body");
  } catch {
    return refuseRequest(
      "The body is not JSON.",
      "Send one JSON object, with `Content-Type: application/json`.",
    );
  }
}

function held(shape: Shape<unknown>, value: unknown, where: string): Read<unknown> {
  const read = readShape(shape, value);
  return read.ok ? read : refuseRequest(...tellFaults(read.refusal, where));
}

function tellFaults(faults: readonly ShapeFault[], where: string): [message: string, hint: string] {
  const messages = [...new Set(faults.map(({ message }) => message))].slice(0, MOST_FAULTS);
  const hint = faults.find((fault) => fault.hint !== undefined)?.hint;
  return [
    `The ${where} cannot be used. ${messages.join(" ")}`,
    hint ?? "See `GET /v1/openapi.json` for what is allowed.",
  ];
}

/** Brackets inside of each other, those in texts left out: enough to keep recursion within bounds. */
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
