/** Params of a method, held to what it takes. What it does not take is ignored, identities above all. */
import type { JsonObject } from "../capability.ts";
import { isObject } from "./rpc-message.ts";

/** `?`: may be left out. A blank text counts as left out. */
export type ParamKind = "text" | "text?" | "object?" | "flag?";

export type ParamKinds = Readonly<Record<string, ParamKind>>;

type Value<Kind extends ParamKind> = Kind extends "object?"
  ? JsonObject
  : Kind extends "flag?"
    ? boolean
    : string;

export type Params<Kinds extends ParamKinds> = {
  readonly [Name in keyof Kinds as Kinds[Name] extends "text" ? Name : never]: string;
} & {
  readonly [Name in keyof Kinds as Kinds[Name] extends "text" ? never : Name]?: Value<Kinds[Name]>;
};

export type ReadParams =
  | { readonly ok: true; readonly params: JsonObject }
  | { readonly ok: false; readonly message: string };

/** Fits `Params` of the same kinds. */
export function readParams(given: Readonly<Record<string, unknown>>, kinds: ParamKinds): ReadParams {
  const params: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(kinds)) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (isLeftOut(value)) {
      if (kind === "text") return { ok: false, message: `\`${name}\` is missing; it is a text.` };
    } else if (!isKind(value, kind)) {
      return { ok: false, message: `\`${name}\` must be ${KIND_NAMES[kind]}.` };
    } else params[name] = typeof value === "string" ? value.trim() : value;
  }
  return { ok: true, params: params as JsonObject };
}

const KIND_NAMES: Readonly<Record<ParamKind, string>> = {
  text: "a text",
  "text?": "a text, if it is there",
  "object?": "a JSON object, if it is there",
  "flag?": "`true` or `false`, if it is there",
};

function isLeftOut(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}

function isKind(value: unknown, kind: ParamKind): boolean {
  if (kind === "object?") return isObject(value);
  return typeof value === (kind === "flag?" ? "boolean" : "string");
}
