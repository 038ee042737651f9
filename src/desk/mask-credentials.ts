/**
 * Mail may hold anything, also what looks like a credential, and the broker passes no such answer on. So that one mail
 * cannot keep others from being read, what looks like one is left out here, line by line.
 */
import type { JsonObject } from "../capabilities/capability.ts";
import { findCredential } from "../capabilities/check-output.ts";
import type { Json } from "../skill/manifest.ts";

export function maskCredentials(output: JsonObject): JsonObject {
  if (findCredential(output) === undefined) return output;
  return Object.fromEntries(Object.entries(output).map(([key, value]) => [key, maskValue(value)]));
}

function maskValue(value: Json): Json {
  if (typeof value === "string") return maskText(value);
  if (Array.isArray(value)) return value.map(maskValue);
  return typeof value === "object" && value !== null ? maskCredentials(value as JsonObject) : value;
}

function maskText(text: string): string {
  if (findCredential(text) === undefined) return text;
  const masked = text.split("\n").map(maskLine).join("\n");
  // A form that only several lines have together.
  return findCredential(masked) === undefined ? masked : maskLine(text);
}

function maskLine(line: string): string {
  const found = findCredential(line);
  return found ? `[left out: it is ${found.what}]` : line;
}
