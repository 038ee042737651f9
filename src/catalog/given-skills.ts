/**
 * Skills that the embedding program gives as objects: the same manifest and rules as a file, without the file.
 * They have scope `integration`, and the program vouches for them. What cannot be a skill is a diagnostic, as in a file.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Json } from "../skill/manifest.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import type { SkillRoot } from "../sources/skill-root.ts";
import type { Profile } from "../validate/profiles.ts";
import { validateSkill } from "../validate/validate-skill.ts";
import type { PlacedSkill } from "./placed-skill.ts";

/** The frontmatter fields of a skill file, in any accepted spelling, and its body as `instructions`. */
export interface GivenSkill {
  readonly name: string;
  readonly description: string;
  readonly instructions: string;
  readonly [field: string]: Json | undefined;
}

export interface PlacedGiven {
  readonly placed: readonly PlacedSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export function placeGiven(
  skills: readonly GivenSkill[],
  { profile, integrationRank }: { readonly profile: Profile; readonly integrationRank: number },
): PlacedGiven {
  const root: SkillRoot = {
    scope: "integration",
    path: "",
    kind: "own",
    rank: integrationRank,
    explicit: true,
    grantFolder: "",
  };
  const placed: PlacedSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const skill of skills) {
    const parsed = parseGiven(skill);
    if ("faults" in parsed) {
      diagnostics.push(...parsed.faults);
      continue;
    }
    const { candidate } = parsed;
    const { manifest, body, diagnostics: found } = validateSkill(parsed, profile);
    const located = found.map((diagnostic) => locate(diagnostic, candidate.defaultName));
    diagnostics.push(...located);
    if (manifest === undefined) continue;
    const trust = { level: "trusted", reason: "The embedding program brings it." } as const;
    placed.push({ candidate, manifest, root, realFile: "", trust, body, diagnostics: located });
  }
  return { placed, diagnostics };
}

/** The program may be JavaScript, so nothing is taken for granted about what it gives. */
function parseGiven(given: unknown): ParsedSkill | { readonly faults: readonly Diagnostic[] } {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    return { faults: [reportUnusable("", `A skill was given as ${kindOf(given)}; it must be an object.`)] };
  }
  const { instructions, ...fields }: Readonly<Record<string, unknown>> = { ...given };
  const name = typeof fields.name === "string" ? fields.name.trim() : "";
  if (name === "" || typeof instructions !== "string") {
    const wrong = [
      ...(name === "" ? [`\`name\` is ${kindOf(fields.name)}; it must be a text that is not empty.`] : []),
      ...(typeof instructions === "string"
        ? []
        : [`\`instructions\` is ${kindOf(instructions)}; it must be a text.`]),
    ];
    return { faults: wrong.map((fault) => reportUnusable(name, fault)) };
  }
  const values = Object.entries(fields).filter(([, value]) => value !== undefined);
  const read = values.map(([key, value]) => ({ key, value, json: toJson(value) }));
  return {
    candidate: { form: "directory", file: "", directory: "", defaultName: name },
    frontmatter: Object.fromEntries(
      read.flatMap(({ key, json }) => (json === undefined ? [] : [[key, json]])),
    ),
    body: instructions.trim(),
    bodyLine: 1,
    position: () => undefined,
    written: () => undefined,
    diagnostics: read
      .filter(({ json }) => json === undefined)
      .map(({ key, value }) => reportNoData(key, value)),
  };
}

/** What a file could hold; `undefined` for a function, a circle and the like. */
function toJson(value: unknown): Json | undefined {
  try {
    const text: string | undefined = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined; // Which is reported.
  }
}

/** There is no file, so the skill's address says which one it is about. */
function locate({ line: _line, column: _column, ...diagnostic }: Diagnostic, name: string): Diagnostic {
  return { ...diagnostic, path: `integration:${name}` };
}

function reportUnusable(name: string, message: string): Diagnostic {
  return locate(
    {
      code: "given.unusable",
      severity: "error",
      path: "",
      message,
      hint: "Give an object with `name`, `description` and `instructions`.",
    },
    name || "(no name)",
  );
}

function reportNoData(key: string, value: unknown): Diagnostic {
  return {
    code: "field.wrong-type",
    severity: "error",
    path: "",
    message: `\`${key}\` is ${kindOf(value)} that no skill file could hold; it is left out.`,
    hint: "Give texts, numbers, booleans, or lists and plain objects of these.",
  };
}

/** What someone gave, in words, for what must not be shown or cannot be. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "string") return value.trim() === "" ? "an empty text" : "a text";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
