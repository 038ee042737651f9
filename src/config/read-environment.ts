/**
 * Config from the environment: `METIER_SKILLS__AUTO_DISCOVER=false`. A double underscore stands for nesting, and the
 * table types the text. Variables without one (`METIER_HOME`) are not config.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { nearestNames } from "../foundation/nearest-names.ts";
import { CONFIG_FIELDS } from "./config-fields.ts";
import { FIELD_TREE, type FieldNode, type FoundKey, findKey } from "./find-field.ts";
import type { Assignment, LayerReading } from "./read-assignments.ts";
import { showValue } from "./redact.ts";
import type { ReadContext } from "./value-types.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Prefixes lowest first: what a later one sets wins. */
export function readEnvironment(
  environment: Environment,
  prefixes: readonly string[],
  context: ReadContext,
): LayerReading {
  const diagnostics: Diagnostic[] = [];
  const assignments: Assignment[] = [];
  for (const prefix of prefixes) {
    const names = Object.keys(environment).filter((name) => isConfigVariable(name, prefix));
    for (const name of names.sort()) {
      const text = environment[name];
      if (text === undefined) continue;
      const read = readVariable(name, text, context);
      if ("code" in read) diagnostics.push(read);
      else assignments.push(read);
    }
  }
  return { assignments, diagnostics };
}

/** A prefix ends before the first key: `METIER_`, or with a section in it: `MAMBA_SKILLS__`. */
function isConfigVariable(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && /[^_]__[^_]/.test(name.slice(prefix.indexOf("_")));
}

function readVariable(name: string, text: string, context: ReadContext): Assignment | Diagnostic {
  const parts = name.slice(name.indexOf("_") + 1).split("__");
  const found = findByVariable(parts);
  if (!found) return unknownVariable(name);
  const { field, segments } = found;
  const value = field.type.read(field.type.fromText(text), context);
  if (value !== undefined) return { field, segments, value, origin: { layer: "environment", where: name } };
  return {
    code: "config.invalid-value",
    severity: "error",
    message: `The environment variable \`${name}\` is ${showValue(field, text)}; allowed is ${field.type.allowed}.`,
    path: name,
    hint: "Correct or unset it; until then it is ignored.",
  };
}

/** `SKILLS`, `CODE_REVIEW`, `ENABLED` → `skills.code-review.enabled`. */
function findByVariable(parts: readonly string[]): Pick<Assignment, "field" | "segments"> | undefined {
  let node: FieldNode = FIELD_TREE;
  const segments: string[] = [];
  for (const [index, part] of parts.entries()) {
    const found = findVariablePart(node, part, index < parts.length - 1);
    if (!found) return undefined;
    segments.push(found.segment);
    node = found.node;
  }
  return node.field && { field: node.field, segments };
}

/** Known keys come before a skill's variables, since here everything is UPPER_CASE. Tools keep their underscores. */
function findVariablePart(node: FieldNode, part: string, holdsTable: boolean): FoundKey | undefined {
  const lower = part.toLowerCase();
  const isToolName = node.named?.field !== undefined;
  return (
    findKey(node, isToolName ? lower : lower.replaceAll("_", "-"), holdsTable) ??
    findKey(node, part, holdsTable)
  );
}

function unknownVariable(name: string): Diagnostic {
  const prefix = name.slice(0, name.indexOf("_") + 1);
  const known = CONFIG_FIELDS.filter((field) => !field.path.includes("<")).map(
    (field) => prefix + toVariable(field.path),
  );
  const [near] = nearestNames(name, known, 1);
  return {
    code: "config.unknown-variable",
    severity: "warning",
    message: `The environment variable \`${name}\` names no config key and is ignored.`,
    path: name,
    hint: near
      ? `Did you mean \`${near}\`?`
      : "`metier config --explain` lists the keys; `.` is written `__`.",
  };
}

function toVariable(path: string): string {
  return path.replaceAll(".", "__").replaceAll("-", "_").toUpperCase();
}
