/** One value of a frontmatter becomes text, a boolean, a number or a choice, and what was bent is reported. */
import { nearestNames } from "../foundation/nearest-names.ts";
import type { Json } from "../skill/manifest.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import { flowText, kindOf } from "./json-kinds.ts";
import type { GivenValue } from "./read-fields.ts";
import { type Report, showNames, showValue } from "./report.ts";

type Written = ParsedSkill["written"];

/** Text for people and models: lists and maps written by mistake are turned into text. */
export function coerceProse(given: GivenValue, report: Report, written: Written): string | undefined {
  const { key, value } = given;
  if (typeof value !== "object" || value === null) return coerceText(given, report, written);
  // The brackets of `argument-hint: [file]` are part of what its author wants to show.
  const text = given.name === "argument-hint" ? flowText(value) : flowText(value).replace(/^\[|\]$/g, "");
  const message = `\`${key}\` is a ${kindOf(value)}; it is read as the text ${showValue(text)}.`;
  report("field.structure-for-text", message, { key, hint: `Write ${showEntry(key, text)}.` });
  return text;
}

/** A number or boolean becomes the text it is written as. */
export function coerceText(given: GivenValue, report: Report, written: Written): string | undefined {
  const { key, value } = given;
  if (typeof value === "string") return value.trim();
  if (typeof value === "number" || typeof value === "boolean") {
    const text = written(key) ?? String(value);
    const message = `\`${key}\` is the ${typeof value} ${showValue(value)}; it is read as the text ${showValue(text)}.`;
    const hint = "Put it in quotes, so that every client reads it as it is written.";
    report("field.scalar-for-text", message, { key, hint });
    return text;
  }
  reportWrongType(given, "text", report);
  return undefined;
}

const TRUE_WORDS: ReadonlySet<string> = new Set(["true", "yes", "on", "1"]);
const FALSE_WORDS: ReadonlySet<string> = new Set(["false", "no", "off", "0"]);

export function coerceBoolean(given: GivenValue, report: Report): boolean | undefined {
  const { value } = given;
  if (typeof value === "boolean") return value;
  const word = typeof value === "object" ? "" : String(value).trim().toLowerCase();
  const answer = TRUE_WORDS.has(word) ? true : FALSE_WORDS.has(word) ? false : undefined;
  if (answer === undefined) reportWrongType(given, "`true` or `false`", report);
  else reportCoerced(given, answer, report);
  return answer;
}

/** A whole number from 1. */
export function coerceCount(given: GivenValue, report: Report): number | undefined {
  const { value } = given;
  const number = typeof value === "string" && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 1) {
    reportWrongType(given, "a whole number from 1", report);
    return undefined;
  }
  if (number !== value) reportCoerced(given, number, report);
  return number;
}

export function coerceChoice<T extends string>(
  given: GivenValue,
  choices: readonly T[],
  report: Report,
): T | undefined {
  const { key, value } = given;
  const choice = choices.find((each) => typeof value === "string" && each === value.trim().toLowerCase());
  if (choice !== undefined) return choice;
  const near = typeof value === "string" ? nearestNames(value, choices, 1)[0] : undefined;
  report("field.wrong-choice", `\`${key}\` is ${showValue(value)}; it can be ${showNames(choices)}.`, {
    key,
    hint: near === undefined ? "Remove it, or choose one of these." : `Did you mean \`${near}\`?`,
  });
  return undefined;
}

export function reportWrongType(given: GivenValue, wanted: string, report: Report): void {
  report("field.wrong-type", `\`${given.key}\` is the ${kindOf(given.value)} ${showValue(given.value)}.`, {
    key: given.key,
    hint: `Write ${wanted}; until then the field counts as absent.`,
  });
}

export function reportCoerced(given: GivenValue, result: Json, report: Report): void {
  const { key, value } = given;
  const message = `\`${key}\` is the ${kindOf(value)} ${showValue(value)}; it is read as the ${kindOf(result)} ${showValue(result)}.`;
  const [parent, child] = key.split(".", 2);
  const entry =
    child === undefined ? showEntry(key, result) : `${showEntry(child, result)} below \`${parent}\``;
  report("field.coerced", message, { key, hint: `Write ${entry}.` });
}

function showEntry(key: string, value: Json): string {
  return showValue(`${key}: ${JSON.stringify(value)}`);
}
