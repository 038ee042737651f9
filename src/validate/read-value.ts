/** A field's value in the type the field has, whichever of the accepted ways it is written in. */
import type { ParsedSkill } from "../skill/skill.ts";
import { coerceList, coerceTools } from "./coerce-list.ts";
import { coerceLists, coerceMap } from "./coerce-map.ts";
import { coerceBoolean, coerceChoice, coerceCount, coerceProse, coerceText } from "./coerce-scalar.ts";
import type { GivenField } from "./read-fields.ts";
import type { Report } from "./report.ts";

/** `undefined` when it cannot be read so, or is left to a rule. */
export function readValue(given: GivenField, report: Report, written: ParsedSkill["written"]): unknown {
  const { field, value } = given;
  switch (field.kind) {
    case "prose":
      return coerceProse(given, report, written);
    case "text":
      return coerceText(given, report, written);
    case "boolean":
      return coerceBoolean(given, report);
    case "count":
      return coerceCount(given, report);
    case "list":
      return coerceList(given, field, report);
    case "tools":
      return coerceTools(given, report);
    case "choice":
      return coerceChoice(given, field.choices, report);
    case "lists":
      return coerceLists(given, field, report);
    case "map":
      return coerceMap(given, report);
    case "json":
      return value;
    case "access":
      return undefined;
  }
}

const SILENT: Report = () => undefined;

/** Whether two spellings of one field say the same: `Read` and `[Read]` are the same tools. */
export function isSameValue(a: GivenField, b: GivenField, written: ParsedSkill["written"]): boolean {
  if (JSON.stringify(a.value) === JSON.stringify(b.value)) return true;
  const read = readValue(a, SILENT, written);
  return read !== undefined && JSON.stringify(read) === JSON.stringify(readValue(b, SILENT, written));
}
