/**
 * Turns the values of one layer into assignments: which key gets which checked value, and from where. A layer is a
 * file, an option, or environment variables.
 */
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Environment } from "@metier/base/programs";
import { done, type Result, refused } from "@metier/base/result";
import { nearestNames } from "@metier/base/text";
import type { Position } from "../skill/skill.ts";
import type { Layer, Origin } from "./config.ts";
import type { ConfigField } from "./config-field.ts";
import {
  CONFIG_FIELDS,
  FIELD_TREE,
  type FieldNode,
  type FoundField,
  type FoundKey,
  findField,
  findKey,
  suggestKey,
} from "./config-fields.ts";
import { formatKeyPath, showConfigValue, showKeyPath } from "./show-config.ts";
import { isTable, PRICE, type ReadContext } from "./value-types.ts";

export interface Assignment extends FoundField {
  readonly value: unknown;
  readonly origin: Origin;
}

interface LayerValues {
  readonly layer: Layer;
  /** The file, or the flag. */
  readonly where: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly context: ReadContext;
  locate?(path: readonly string[]): Position | undefined;
  /** Another system's file: the sections that Metier shares with it. Unknown keys there are only noted. */
  readonly sections?: readonly string[] | undefined;
}

export interface LayerReading {
  readonly assignments: readonly Assignment[];
  readonly diagnostics: readonly Diagnostic[];
}

export function readAssignments(layer: LayerValues): LayerReading {
  const { sections } = layer;
  const reader = new LayerReader(layer);
  const entries = Object.entries(layer.values).filter(([key]) => sections?.includes(key) ?? true);
  reader.readTable(FIELD_TREE, Object.fromEntries(entries), [], []);
  return { assignments: [...reader.assignments.values()], diagnostics: reader.diagnostics };
}

class LayerReader {
  readonly diagnostics: Diagnostic[] = [];
  readonly assignments = new Map<string, Assignment>();
  readonly #layer: LayerValues;
  readonly #contradicted = new Set<string>();

  constructor(layer: LayerValues) {
    this.#layer = layer;
  }

  /** `written` is the path as written, `path` the canonical one. */
  readTable(
    node: FieldNode,
    table: Readonly<Record<string, unknown>>,
    written: readonly string[],
    path: readonly string[],
  ): void {
    for (const [key, value] of Object.entries(table)) {
      if (value === undefined || value === null) continue;
      const writtenKey = [...written, key];
      const found = findKey(node, key, isTable(value));
      if (!found) this.#reportUnknown(node, writtenKey, isTable(value));
      else if (found.node.field)
        this.#readValue(found.node.field, value, writtenKey, [...path, found.segment]);
      else if (isTable(value)) this.readTable(found.node, value, writtenKey, [...path, found.segment]);
      else this.#reportInvalid(writtenKey, "must be a table");
    }
  }

  #readValue(
    field: ConfigField,
    raw: unknown,
    written: readonly string[],
    segments: readonly string[],
  ): void {
    const value = field.type.read(raw, this.#layer.context);
    if (value === undefined) {
      const fault = `is ${showConfigValue(field, raw)}; allowed: ${field.type.allowed}`;
      const isReserved = isTable(raw) && segments.length === 2 && segments[0] === "skills";
      const reserved = `\`${segments[1]}\` is a setting of \`[skills]\`, so it cannot be a skill's name here.`;
      if (restrictsRuns(field)) this.#reportLimit(written, fault);
      else this.#reportInvalid(written, fault, isReserved ? reserved : undefined);
      return;
    }
    const key = formatKeyPath(segments);
    const earlier = this.assignments.get(key);
    if (earlier && !isDeepStrictEqual(earlier.value, value)) this.#contradicted.add(key);
    if (this.#contradicted.has(key)) {
      this.assignments.delete(key);
      this.#report(written, {
        code: "config.spelled-twice",
        severity: "error",
        message: `\`${showKeyPath(written)}\` contradicts an earlier spelling of the same key.`,
        hint: `Keep one of them, preferably \`${showKeyPath(segments)}\`; until then both are ignored.`,
      });
      return;
    }
    const { layer, where, locate } = this.#layer;
    const line = locate?.(written)?.line;
    this.assignments.set(key, { field, segments, value, origin: { layer, where, line } });
  }

  #reportUnknown(node: FieldNode, written: readonly string[], isTableValue: boolean): void {
    const key = showKeyPath(written);
    if (this.#layer.sections) {
      const message = `Metier does not know \`${key}\` and ignores it.`;
      this.#report(written, { code: "config.not-used", severity: "info", message });
      return;
    }
    if (node.named && node.keys.size === 0 && !isTableValue) {
      this.#reportInvalid(written, "must be a table");
      return;
    }
    const variables = node.variable ? " Write the skill's variables in UPPER_CASE." : "";
    const hint = `${suggestKey(node, written.at(-1) ?? "")}${variables}`.trim();
    const message = `\`${key}\` is not a config key.`;
    // A limit with a typo in its name would not limit anything.
    if (written[0] === "runs") {
      this.#reportLimit(written, "is not a config key", hint || undefined);
      return;
    }
    this.#report(written, { code: "config.unknown-key", severity: "error", message, ...(hint && { hint }) });
  }

  #reportInvalid(
    written: readonly string[],
    fault: string,
    hint = "Fix the value; until then it is ignored.",
  ): void {
    this.#report(written, {
      code: "config.invalid-value",
      severity: this.#layer.sections ? "warning" : "error",
      message: `\`${showKeyPath(written)}\` ${fault}.`,
      hint,
    });
  }

  #reportLimit(written: readonly string[], fault: string, hint?: string): void {
    if (this.#layer.sections) this.#reportInvalid(written, fault);
    else
      this.#report(written, {
        ...wrongLimit(`\`${showKeyPath(written)}\` ${fault}.`),
        ...(hint && { hint }),
      });
  }

  #report(written: readonly string[], parts: Omit<Diagnostic, "path">): void {
    this.diagnostics.push({ ...parts, path: this.#layer.where, ...this.#layer.locate?.(written) });
  }
}

/** What an invalid value would leave open: what runs may spend, how far they may go, which tools they may use. */
function restrictsRuns({ path, type, tightening }: ConfigField): boolean {
  const isLimit = tightening !== undefined && /^(?:runs|tools)\./.test(path);
  return isLimit || type === PRICE;
}

function wrongLimit(message: string): Omit<Diagnostic, "path"> {
  return {
    code: "config.invalid-limit",
    severity: "error",
    message,
    hint: "Fix it: no run starts until then.",
  };
}

/**
 * `METIER_SKILLS__AUTO_DISCOVER=false`: a double underscore means nesting, and the table types the text. Variables
 * without one (`METIER_HOME`) are not config. Prefixes lowest first: a later one wins.
 */
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
      if (read.ok) assignments.push(read.value);
      else diagnostics.push(read.refusal);
    }
  }
  return { assignments, diagnostics };
}

/** A prefix ends before the first key: `METIER_`, or with a section: `MAMBA_SKILLS__`. */
function isConfigVariable(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && /[^_]__[^_]/.test(name.slice(prefix.indexOf("_")));
}

function readVariable(name: string, text: string, context: ReadContext): Result<Assignment, Diagnostic> {
  // `SKILLS`, `CODE_REVIEW`, `ENABLED` → `skills.code-review.enabled`
  const parts = name.slice(name.indexOf("_") + 1).split("__");
  const found = findField(parts, findVariablePart);
  if (!found.ok) return refused(unknownVariable(name));
  const { field, segments } = found.value;
  const value = field.type.read(field.type.fromText(text), context);
  if (value !== undefined)
    return done({ field, segments, value, origin: { layer: "environment", where: name } });
  const message = `The environment variable \`${name}\` is ${showConfigValue(field, text)}; allowed: ${field.type.allowed}.`;
  if (restrictsRuns(field)) return refused({ ...wrongLimit(message), path: name });
  return refused({
    code: "config.invalid-value",
    severity: "error",
    message,
    path: name,
    hint: "Fix or unset it; until then it is ignored.",
  });
}

/**
 * Known keys take precedence over a skill's variables, since everything here is UPPER_CASE. Tools keep their
 * underscores.
 */
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
    message: `The environment variable \`${name}\` does not match a config key and is ignored.`,
    path: name,
    hint: near
      ? `Did you mean \`${near}\`?`
      : "See the keys with `metier config --explain`; write `.` as `__`.",
  };
}

function toVariable(path: string): string {
  return path.replaceAll(".", "__").replaceAll("-", "_").toUpperCase();
}
