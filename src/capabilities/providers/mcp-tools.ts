/** Tools of an MCP server as operations of one capability, and what they answer as an output. */
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import type { Json } from "../../skill/manifest.ts";
import { checkJson } from "../../validate/json-schema.ts";
import { showNames } from "../../validate/report.ts";
import type { JsonObject } from "../capability.ts";
import { type Answer, done, refuse } from "../capability-fault.ts";
import { isObject } from "./bridge-envelope.ts";

const MAX_TOOLS = 500;
const MAX_NAMED = 5;
const OPERATION_NAME = /^[A-Za-z0-9_][\w.-]{0,127}$/;

/** One definition. A tool that cannot be an operation is left out, and the description says so. */
export async function describeTools(
  server: string,
  namespace: string,
  tools: readonly Tool[],
): Promise<Answer<JsonObject>> {
  const operations: Json[] = [];
  const leftOut: string[] = [];
  for (const tool of tools.slice(0, MAX_TOOLS)) {
    if (await isUsable(tool, operations)) operations.push(toOperation(tool));
    else leftOut.push(tool.name);
  }
  leftOut.push(...tools.slice(MAX_TOOLS).map(({ name }) => name));
  if (operations.length === 0) {
    return refuse(
      "capability_invalid_output",
      `The MCP server \`${server}\` offers no tool that can be used; it has ${tools.length}.`,
    );
  }
  return done({
    id: `${namespace}.tools`,
    description: `Tools of the MCP server \`${server}\`.${describeLeftOut(leftOut)}`,
    // It does not say whom its tools are for, and it is the same server for everybody.
    sensitive: true,
    operations,
  });
}

async function isUsable(
  { name, inputSchema, outputSchema }: Tool,
  others: readonly Json[],
): Promise<boolean> {
  if (!OPERATION_NAME.test(name) || others.some((other) => isObject(other) && other.name === name))
    return false;
  for (const schema of [inputSchema, outputSchema]) {
    const checked = schema && (await checkJson(schema as JsonObject, {}));
    if (checked && !checked.ok && checked.isSchemaFault) return false;
  }
  return true;
}

/** What a tool says of itself is believed where it makes things stricter; one that says nothing may change something. */
function toOperation({ name, description, annotations = {}, inputSchema, outputSchema }: Tool): JsonObject {
  const isReading = annotations.readOnlyHint === true && annotations.destructiveHint !== true;
  return {
    name,
    description: description ?? annotations.title ?? name,
    requires_auth: false,
    mutating: !isReading,
    idempotent: isReading || annotations.idempotentHint === true,
    input_schema: inputSchema as JsonObject,
    ...(outputSchema && { output_schema: outputSchema as JsonObject }),
  };
}

function describeLeftOut(names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return ` Left out, because they cannot be operations: ${showNames(names.slice(0, MAX_NAMED))}${more}.`;
}

/** Its structured content; otherwise its text, with the kinds of what is no text. */
export function readToolResult(server: string, result: CallToolResult): Answer<JsonObject> {
  const { structuredContent, content = [], isError = false } = result;
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  if (isError) {
    return refuse(
      "capability_backend_unavailable",
      `The tool of the MCP server \`${server}\` failed: ${text === "" ? "it does not say why" : text}`,
    );
  }
  if (structuredContent !== undefined) {
    const value = structuredContent as Json;
    return done(isObject(value) ? value : { result: value });
  }
  const others = content.flatMap((part) => (part.type === "text" ? [] : [part.type]));
  return done({ text, ...(others.length > 0 && { left_out: others }) });
}
