/** What is known about one frontmatter field. The fields themselves stand in `manifest-fields.ts`. */
import { spellingsOf } from "../foundation/spelling.ts";
import type { Json, SkillManifest } from "./manifest.ts";

/** Who reads a field: the published specification, or a system with a dialect of its own. */
export type Client = "spec" | "claude-code" | "ash" | "agent-harness" | "mamba" | "openclaw" | "metier";

/** How a string becomes a list: at spaces and commas, at commas, or not at all. */
export type Separator = "words" | "commas" | "none";

/** The manifest's properties whose type is exactly `T`, so that the table cannot disagree with the manifest. */
type PropertyOf<T> = {
  [K in keyof SkillManifest]-?: [NonNullable<SkillManifest[K]>, T] extends [T, NonNullable<SkillManifest[K]>]
    ? K
    : never;
}[keyof SkillManifest];

type FieldKind =
  /** One word or name; a list or map is a mistake. */
  | { readonly kind: "text"; readonly property: PropertyOf<string> }
  /** Text for people and models; a list or map written by mistake is turned into text. */
  | { readonly kind: "prose"; readonly property: PropertyOf<string>; readonly maxLength?: number }
  | { readonly kind: "boolean"; readonly property: PropertyOf<boolean> }
  /** A whole number from 1. */
  | { readonly kind: "count"; readonly property: PropertyOf<number> }
  | {
      readonly kind: "list";
      readonly property: PropertyOf<readonly string[]>;
      readonly separator: Separator;
      /** A line is as good as a list; otherwise a line is read, and reported. */
      readonly takesLine?: true;
    }
  /** Tool patterns: a line or a list. */
  | { readonly kind: "tools"; readonly property: PropertyOf<readonly string[]> }
  | { readonly kind: "map"; readonly property: PropertyOf<Readonly<Record<string, Json>>> }
  | {
      readonly kind: "choice";
      readonly property: "context";
      readonly choices: readonly NonNullable<SkillManifest["context"]>[];
    }
  /** A map of lists. */
  | {
      readonly kind: "lists";
      readonly property: "requires" | "sandbox" | "triggers";
      readonly keys: Readonly<Record<string, string>>;
      /** Where a plain string or list goes, when the field is not written as a map. */
      readonly plain?: string;
    }
  /** A map that restricts who may invoke the skill; read by its own rule. */
  | {
      readonly kind: "access";
      readonly property: "chatTypes";
      readonly keys: Readonly<Record<string, string>>;
    }
  | { readonly kind: "json"; readonly property: "fallback" };

export type ManifestField = FieldKind & {
  /** Kebab-case. */
  readonly name: string;
  readonly description: string;
  readonly clients: readonly Client[];
  /** Other names for the same thing. */
  readonly aliases?: readonly string[];
  /** Read only when that field is absent. */
  readonly fallbackFor?: string;
  /** Where it belongs, when it is widely written at the top level but not a field of its own. */
  readonly belongsTo?: string;
  /** The stage that acts on it in this version; absent: read, not acted on yet. */
  readonly honouredBy?: "catalog" | "find" | "invoke" | "run";
};

export function isSpecField(field: ManifestField): boolean {
  return field.clients.includes("spec");
}

/** Kebab-case first. */
export function acceptedSpellings(field: ManifestField): readonly string[] {
  return [field.name, ...(field.aliases ?? [])].flatMap(spellingsOf);
}
