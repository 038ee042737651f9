/** From the values of one layer to assignments: which key of the table gets which checked value, and from where. */
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Position } from "../skill/skill.ts";
import type { Layer, Origin } from "./config.ts";
import type { ConfigField } from "./config-fields.ts";
import { FIELD_TREE, type FieldNode, findKey, suggestKey } from "./find-field.ts";
import { formatKeyPath, showKeyPath } from "./key-path.ts";
import { showValue } from "./redact.ts";
import { isTable, type ReadContext } from "./value-types.ts";

export interface Assignment {
  readonly field: ConfigField;
  /** The canonical path. */
  readonly segments: readonly string[];
  readonly value: unknown;
  readonly origin: Origin;
}

export interface LayerValues {
  readonly layer: Layer;
  /** The file, or the flag. */
  readonly where: string;
  readonly values: Readonly<Record<string, unknown>>;
  readonly context: ReadContext;
  locate?(path: readonly string[]): Position | undefined;
  /** Another system's file: the sections Metier shares with it. What it does not know there is only noted. */
  readonly sections?: readonly string[];
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

  /** `written` is the path as it stands there, `path` the canonical one. */
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
      const isReserved = isTable(raw) && segments.length === 2 && segments[0] === "skills";
      this.#reportInvalid(
        written,
        `is ${showValue(field, raw)}; allowed is ${field.type.allowed}`,
        isReserved
          ? `\`${segments[1]}\` is a setting of \`[skills]\`; no skill is set up by that name.`
          : undefined,
      );
      return;
    }
    const key = formatKeyPath(segments);
    const earlier = this.assignments.get(key);
    if (earlier && !isDeepStrictEqual(earlier.value, value)) this.#contradicted.add(key);
    if (this.#contradicted.has(key)) {
      this.assignments.delete(key);
      this.#reportTwice(written, segments);
      return;
    }
    const { layer, where, locate } = this.#layer;
    const line = locate?.(written)?.line;
    this.assignments.set(key, { field, segments, value, origin: { layer, where, ...(line && { line }) } });
  }

  #reportUnknown(node: FieldNode, written: readonly string[], isTableValue: boolean): void {
    const key = showKeyPath(written);
    if (this.#layer.sections) {
      const message = `\`${key}\` means nothing to Metier and is not used.`;
      this.#report(written, { code: "config.not-used", severity: "info", message });
      return;
    }
    if (node.named && node.keys.size === 0 && !isTableValue) {
      this.#reportInvalid(written, "must be a table");
      return;
    }
    const variables = node.variable ? " Variables for the skill are written in UPPER_CASE." : "";
    const hint = `${suggestKey(node, written.at(-1) ?? "")}${variables}`.trim();
    const message = `\`${key}\` is not a config key.`;
    this.#report(written, { code: "config.unknown-key", severity: "error", message, ...(hint && { hint }) });
  }

  #reportInvalid(
    written: readonly string[],
    fault: string,
    hint = "Correct the value; until then it is ignored.",
  ): void {
    this.#report(written, {
      code: "config.invalid-value",
      severity: this.#layer.sections ? "warning" : "error",
      message: `\`${showKeyPath(written)}\` ${fault}.`,
      hint,
    });
  }

  #reportTwice(written: readonly string[], segments: readonly string[]): void {
    this.#report(written, {
      code: "config.spelled-twice",
      severity: "error",
      message: `\`${showKeyPath(written)}\` says something else than another spelling of it before.`,
      hint: `Keep one of them, best as \`${showKeyPath(segments)}\`; until then neither counts.`,
    });
  }

  #report(written: readonly string[], parts: Omit<Diagnostic, "path">): void {
    this.diagnostics.push({ ...parts, path: this.#layer.where, ...this.#layer.locate?.(written) });
  }
}
