/** Turns the contents of a form into the input of a run, or into faults by field. Pure. */
import type { Json } from "@metier/base/json";
import type { Draft, FormField, GroupField, ListField } from "./input-form.ts";
import { startDraft } from "./input-form.ts";

export interface DraftFault {
  /** `range.from`, `labels[0]`; `""` for the whole input. */
  readonly path: string;
  readonly message: string;
  /** A required field is empty: reported only when the user wants to continue. */
  readonly isMissing: boolean;
}

interface ReadDraft {
  /** Absent if nothing is written and nothing is required. */
  readonly value?: Json | undefined;
  readonly faults: readonly DraftFault[];
}

export function readDraft(field: FormField, draft: Draft, path = ""): ReadDraft {
  if (field.kind === "group") return readGroup(field, draft, path);
  if (field.kind === "list") return readList(field, draft, path);
  const text = typeof draft === "string" ? draft : "";
  if (text.trim() === "" && (text === "" || field.kind !== "text")) {
    return field.isRequired ? fault(path, "This is required.", true) : { faults: [] };
  }
  return readLeaf(field, text, path);
}

function readLeaf(field: Exclude<FormField, GroupField | ListField>, text: string, path: string): ReadDraft {
  switch (field.kind) {
    case "text":
      return checkBounds(field, text, text.length, "character", path);
    case "number":
      return readNumber(field, text, path);
    case "boolean":
      return { value: text === "true", faults: [] };
    case "choice":
      return { value: field.options[Number(text)], faults: [] };
    case "json":
      return readJson(text, path);
  }
}

function readNumber(field: Extract<FormField, { kind: "number" }>, text: string, path: string): ReadDraft {
  const number = Number(text);
  if (!Number.isFinite(number)) return fault(path, `Not a number: ${text.trim()}`);
  if (field.isWhole && !Number.isInteger(number)) return fault(path, `Not a whole number: ${text.trim()}`);
  if (number < field.least) return fault(path, `At least ${field.least}.`);
  if (number > field.most) return fault(path, `At most ${field.most}.`);
  return { value: number, faults: [] };
}

function checkBounds(
  { least, most }: { readonly least: number; readonly most: number },
  value: Json,
  size: number,
  noun: string,
  path: string,
): ReadDraft {
  const count = (number: number): string => `${number} ${noun}${number === 1 ? "" : "s"}`;
  if (size < least) return fault(path, `At least ${count(least)}; it has ${size}.`);
  if (size > most) return fault(path, `At most ${count(most)}; it has ${size}.`);
  return { value, faults: [] };
}

function readJson(text: string, path: string): ReadDraft {
  try {
    return { value: JSON.parse(text) as Json, faults: [] };
  } catch (error) {
    return fault(path, `Not JSON: ${error instanceof Error ? error.message : "it can't be read"}`);
  }
}

function readList(field: ListField, draft: Draft, path: string): ReadDraft {
  const drafts = Array.isArray(draft) ? (draft as readonly Draft[]) : [];
  if (drafts.length === 0 && !field.isRequired) return { faults: [] };
  const items = drafts.map((item, index) => readDraft(field.item, item, `${path}[${index}]`));
  const faults = items.flatMap((item) => item.faults);
  const value = items.map((item) => item.value ?? null);
  return faults.length > 0 ? { faults } : checkBounds(field, value, value.length, "item", path);
}

/** An optional group is left out while it is empty. */
function readGroup(field: GroupField, draft: Draft, path: string): ReadDraft {
  if (!field.isRequired && isUntouched(field, draft)) return { faults: [] };
  const read = field.fields.map(({ name, field: inner }) => {
    const place = path === "" ? name : `${path}.${name}`;
    return [name, readDraft(inner, draftOf(draft, name), place)] as const;
  });
  const faults = read.flatMap(([, one]) => one.faults);
  if (faults.length > 0) return { faults };
  const given = read.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]));
  return { value: Object.fromEntries(given), faults };
}

function isUntouched(field: FormField, draft: Draft): boolean {
  return JSON.stringify(draft) === JSON.stringify(startDraft(field));
}

export function draftOf(draft: Draft, name: string): Draft {
  if (typeof draft === "string" || Array.isArray(draft) || !Object.hasOwn(draft, name)) return "";
  return (draft as Readonly<Record<string, Draft>>)[name] ?? "";
}

function fault(path: string, message: string, isMissing = false): ReadDraft {
  return { faults: [{ path, message, isMissing }] };
}

/** The arguments by position; empty ones at the end are left out. */
export function writtenArguments(values: readonly string[]): readonly string[] | undefined {
  const last = values.findLastIndex((value) => value.trim() !== "");
  return last < 0 ? undefined : values.slice(0, last + 1);
}
