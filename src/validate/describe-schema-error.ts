/** What a JSON Schema validator found, in words: which field, which value, what is allowed. */
import type { ErrorObject } from "ajv";
import type { JsonFault } from "./json-schema.ts";
import { showNames, showValue } from "./report.ts";

export function describeSchemaError(error: ErrorObject): JsonFault {
  const { keyword, params, data, parentSchema = {} } = error;
  const field = fieldOf(error.instancePath);
  switch (keyword) {
    case "required":
      return about(joinField(field, params.missingProperty), "is missing");
    case "additionalProperties":
    case "unevaluatedProperties": {
      const known = Object.keys(parentSchema.properties ?? {});
      const allowed = known.length > 0 ? `allowed: ${showNames(known)}` : "nothing is allowed there";
      const name = params.additionalProperty ?? params.unevaluatedProperty;
      return about(joinField(field, name), `is not known; ${allowed}`);
    }
    case "enum":
      return about(field, `is ${showValue(data)}; allowed: ${listValues(params.allowedValues)}`);
    case "const":
      return about(field, `is ${showValue(data)}; allowed: ${showValue(params.allowedValue)}`);
    case "type":
      return about(field, `is ${kindOf(data)}; allowed: ${[params.type].flat().join(" or ")}`);
    case "false schema":
      return about(field, "is not allowed");
    default:
      return about(field, `is ${showValue(data)}; it ${error.message ?? `does not fit \`${keyword}\``}`);
  }
}

function about(field: string, what: string): JsonFault {
  return { field, message: `${field === "" ? "it" : showValue(field)} ${what}` };
}

/** `/files/0/name` → `files[0].name` */
function fieldOf(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce(joinField, "");
}

function joinField(parent: string, name: string): string {
  if (/^\d+$/.test(name)) return `${parent}[${name}]`;
  return parent === "" ? name : `${parent}.${name}`;
}

const MOST_VALUES = 20;

function listValues(values: readonly unknown[]): string {
  const shown = values.slice(0, MOST_VALUES).map(showValue);
  return [...shown, ...(values.length > MOST_VALUES ? ["…"] : [])].join(", ");
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return `the ${typeof value} ${showValue(value)}`;
}
