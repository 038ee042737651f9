/**
 * Safe YAML 1.2 (core schema) by the `yaml` package: no tag is resolved, aliases are bounded, every problem has
 * line and column of the file. Imported only when the simple reader gave up, since loading `yaml` takes time.
 */
import { parseDocument } from "yaml";
import type { Json } from "../skill/manifest.ts";
import type { Fault } from "./fault.ts";
import { shorten } from "./shorten.ts";
import { positionAt } from "./text-position.ts";
import { convertYaml, type Obstacle } from "./yaml-to-json.ts";

export type YamlResult =
  | { readonly ok: true; readonly value: Json; readonly faults: readonly Fault[] }
  | { readonly ok: false; readonly problem: Fault };

const OPTIONS = {
  version: "1.2",
  schema: "core",
  resolveKnownTags: false,
  merge: false,
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "silent",
} as const;

/** `text` has `\n` line ends; its first line is line `firstLine` of the file. */
export function parseYaml(text: string, firstLine: number): YamlResult {
  const result = readDocument(text, firstLine);
  if (!("offset" in result)) return { ok: true, ...result };
  const { code, message, offset } = result;
  const problem: Fault = {
    code,
    severity: "error",
    message: `The frontmatter cannot be read as YAML: ${shorten(message, 200)}.`,
    ...positionAt(text, offset, firstLine),
    hint:
      code === "yaml.too-complex"
        ? "Keep metadata small and flat."
        : "Put text with special characters in quotes.",
  };
  return { ok: false, problem };
}

export function isJsonMap(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readDocument(text: string, firstLine: number): Obstacle | { value: Json; faults: readonly Fault[] } {
  try {
    const document = parseDocument(text, OPTIONS);
    const fault = document.errors[0] ?? document.warnings.find(({ code }) => code === "TAG_RESOLVE_FAILED");
    if (fault) return { code: "yaml.invalid", message: fault.message, offset: fault.pos[0] };
    const { value, faults, obstacle } = convertYaml(document, text, firstLine);
    return obstacle ?? { value, faults };
  } catch (error) {
    // The package recurses: nesting beyond the stack ends in a RangeError, which is the document's fault.
    return {
      code: "yaml.too-complex",
      message: error instanceof Error ? error.message : String(error),
      offset: 0,
    };
  }
}
