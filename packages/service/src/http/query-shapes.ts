/** Shapes for route parameters: numbers and dates in a query, bounded strings. */
import type { JsonSchema } from "@metier/base/json";
import { describedShape, refuseShape, type Shape } from "@metier/base/shape";

/** A whole number in a query. */
export function numberText(least: number, most: number): Shape<number> {
  return describedShape<number>(
    () => ({ type: "integer", minimum: least, maximum: most }),
    (value, place) => {
      const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
      return number >= least && number <= most
        ? number
        : refuseShape(value, place, `a whole number from ${least} to ${most}`);
    },
  );
}

/** An amount in a query, such as `0.25`. */
export const amountText: Shape<number> = describedShape<number>(
  () => ({ type: "number", minimum: 0 }),
  (value, place) =>
    typeof value === "string" && /^\d{1,9}(\.\d{1,9})?$/.test(value)
      ? Number(value)
      : refuseShape(value, place, "an amount, such as `0.25`"),
);

/** `2026-11-17` or `2026-11-17T08:00:00Z`, as milliseconds. */
export const timeText: Shape<number> = describedShape<number>(
  () => ({ type: "string", format: "date-time" }),
  (value, place) => {
    const isDate =
      typeof value === "string" && /^\d{4}-\d{2}-\d{2}(T[\d:.]{5,12}(Z|[+-]\d{2}:\d{2}))?$/.test(value);
    const time = isDate ? Date.parse(value) : Number.NaN;
    return Number.isNaN(time)
      ? refuseShape(value, place, "a date, such as `2026-11-17` or `2026-11-17T08:00:00Z`")
      : time;
  },
);

export function boundedText(most: number, least = 0): Shape<string> {
  return describedShape<string>(
    () => ({ type: "string", minLength: least, maxLength: most }),
    (value, place) =>
      typeof value === "string" && value.length >= least && value.length <= most
        ? value
        : refuseShape(value, place, `a string of ${least} to ${most} characters`),
  );
}

/** A name in paths: of an agent, a secret, a schedule. */
export const plainName: Shape<string> = patternText(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  "1 to 64 letters, digits, `.`, `_` or `-`, starting with a letter or digit",
);

function patternText(pattern: RegExp, allowed: string): Shape<string> {
  return describedShape<string>(
    () => ({ type: "string", pattern: pattern.source }),
    (value, place) =>
      typeof value === "string" && pattern.test(value) ? value : refuseShape(value, place, allowed),
  );
}

/** Of a list, as it is answered. */
export function listOf(item: JsonSchema): JsonSchema {
  return {
    type: "object",
    required: ["data"],
    properties: { data: { type: "array", items: item }, next: { type: "string" } },
  };
}

/** An object with these fields. */
export function objectOf(
  fields: Readonly<Record<string, JsonSchema>>,
  required?: readonly string[],
): JsonSchema {
  return { type: "object", properties: fields, required: [...(required ?? Object.keys(fields))] };
}

export const TEXT_FIELD: JsonSchema = { type: "string" };
export const NUMBER_FIELD: JsonSchema = { type: "number" };
export const TIME_FIELD: JsonSchema = { type: "string", format: "date-time" };
