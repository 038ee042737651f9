/** Reads event fields with care: the server may be newer than this page. Pure. */
import type { JsonObject } from "@metier/base/json";
import type { ApiRunEvent, ApiUsage } from "@metier/service/api";

export function eventText(event: JsonObject, name: string): string | undefined {
  const value = event[name];
  return typeof value === "string" ? value : undefined;
}

export function numberOf(event: JsonObject, name: string): number | undefined {
  const value = event[name];
  return typeof value === "number" ? value : undefined;
}

export function timeOf({ at }: ApiRunEvent): number {
  const time = Date.parse(at);
  return Number.isNaN(time) ? 0 : time;
}

export function readUsage(event: JsonObject): ApiUsage | undefined {
  const { usage } = event;
  if (!isObject(usage)) return undefined;
  const inputTokens = numberOf(usage, "inputTokens") ?? 0;
  const outputTokens = numberOf(usage, "outputTokens") ?? 0;
  return {
    inputTokens,
    outputTokens,
    totalTokens: numberOf(usage, "totalTokens") ?? inputTokens + outputTokens,
  };
}

/** The texts among the parts of a message. */
export function partsText(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts
    .flatMap((part: unknown) =>
      isObject(part) && part.type === "text" ? [eventText(part, "text") ?? ""] : [],
    )
    .join("\n\n");
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
