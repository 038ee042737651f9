/**
 * Shapes for what clients of other protocols send. A field that Metier cannot honor is refused by name, unless it is empty: a
 * client that is told "yes" can rely on it.
 */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { listShape, refuseShape, type Shape, testedShape } from "@metier/base/shape";

/** `null` is how many clients leave a field out. */
export function orNull<Value>(shape: Shape<Value>): Shape<Value | null> {
  return (value, place) => (value === null ? null : shape(value, place));
}

/** For a field that says nothing here: only its empty values pass. `hint`: what to do instead. */
export function notTaken(hint: string): Shape<null> {
  return (value, place) => {
    const isEmpty =
      value === null ||
      value === false ||
      (Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0);
    return isEmpty ? null : refuseShape(value, place, "left out", hint);
  };
}

/** For a field that changes nothing about a run, whatever it says. */
export const ignored: Shape<Json> = (value) => value as Json;

/** Each entry costs a look into the store, so that a small body could otherwise ask for very many. */
export function boundedList<Item>(item: Shape<Item>, most: number): Shape<readonly Item[]> {
  const list = listShape(item);
  return (value, place) =>
    Array.isArray(value) && value.length > most
      ? refuseShape(value.length, place, `a list of at most ${most} entries`)
      : list(value, place);
}

/** A whole number, also as text. */
export const numberLike: Shape<number> = (value, place) => {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return Number.isSafeInteger(number) && Number(number) >= 0
    ? Number(number)
    : refuseShape(value, place, "a whole number from 0");
};

interface TextBlock {
  readonly type: string;
  readonly text: string;
}

/** A text, or blocks of text; what they say together. `type`: what such a block is called. */
export function textBlocks(...types: readonly string[]): Shape<string> {
  const isBlock = (value: unknown): value is TextBlock =>
    isJsonObject(value) && types.includes(String(value.type)) && typeof value.text === "string";
  const shape = testedShape(
    (value): value is readonly TextBlock[] =>
      Array.isArray(value) && value.length > 0 && value.every(isBlock),
    "a text, or a list of blocks of text; images and files are not taken",
  );
  return (value, place) => {
    if (typeof value === "string") return value;
    return shape(value, place)
      ?.map(({ text }) => text)
      .join("\n\n");
  };
}

export function textIn(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The objects of a list in an answer. */
export function listIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value.filter(isJsonObject) as JsonObject[]) : [];
}

/** What a `model-answered` event says in words. */
export function answeredText({ parts }: JsonObject): string {
  return listIn(parts)
    .map(({ type, text }) => (type === "text" ? textIn(text) : ""))
    .join("");
}
