/** What Tab does with the matching words: completes the part they share, or lists them below the prompt. */
import { safeLine } from "@metier/base/text";

/** What to type for the user after `typed`: the prefix that all choices share, plus a space after a single choice. */
export function addedBy(choices: readonly string[], typed: string): string {
  const common = commonStart(choices);
  if (!common.startsWith(typed)) return "";
  const isWhole = choices.length === 1 && !common.endsWith("/");
  return common.slice(typed.length) + (isWhole ? " " : "");
}

function commonStart(choices: readonly string[]): string {
  const [first = "", ...others] = choices;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

const MOST_ROWS = 8;

/** In columns below the prompt. Names may come from anyone. */
export function listChoices(names: readonly string[], columns: number): readonly string[] {
  const choices = names.map(safeLine);
  const width = Math.max(...choices.map((choice) => choice.length)) + 2;
  const across = Math.max(1, Math.floor((columns - 1) / width));
  const rows: string[] = [];
  for (let at = 0; at < choices.length; at += across) {
    rows.push(
      choices
        .slice(at, at + across)
        .map((choice) => choice.padEnd(width))
        .join("")
        .trimEnd(),
    );
  }
  const more = rows.length - MOST_ROWS;
  return more > 0 ? [...rows.slice(0, MOST_ROWS), `… and ${more} more lines`] : rows;
}
