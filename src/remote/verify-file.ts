/**
 * One file of a skill as its server sends it, held against what the server declared: the URI that was asked for and no other,
 * size, digest, and for `SKILL.md` every field of its frontmatter. What differs is not used.
 */
import { isDeepStrictEqual } from "node:util";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../foundation/diagnostic-codes.ts";
import { showPath } from "../host/contained-path.ts";
import { parseSkill } from "../parse/parse-skill.ts";
import type { RemoteFile } from "../skill/skill.ts";
import { digestBytes } from "../trust/identify-file.ts";
import { remoteLocation } from "../trust/remote-trust.ts";
import { showNames } from "../validate/report.ts";
import type { RemoteEntry } from "./check-entry.ts";

export type VerifiedFile =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly diagnostic: Diagnostic };

export function verifyFile(label: string, file: RemoteFile, result: unknown): VerifiedFile {
  const { uri, size, digest } = file;
  const content = findContent(uri, result);
  if ("fault" in content) return refuseFile(label, uri, content.code, content.fault);
  const bytes = readBytes(content);
  if (bytes === undefined)
    return refuseFile(label, uri, "remote.content", "it came neither as text nor as base64");
  if (bytes.length !== size) {
    return refuseFile(
      label,
      uri,
      "remote.size",
      `it has ${bytes.length} bytes, and the server declares ${size}`,
    );
  }
  const actual = digestBytes(bytes);
  if (actual !== digest) {
    return refuseFile(
      label,
      uri,
      "remote.digest",
      `its digest is \`${actual}\`, and the server declares \`${digest}\``,
    );
  }
  return { ok: true, bytes };
}

/** Of a `SKILL.md` whose bytes are verified. `undefined` when all is as declared. */
export async function verifyFrontmatter(
  label: string,
  { uri, frontmatter }: RemoteEntry,
  bytes: Uint8Array,
): Promise<Diagnostic | undefined> {
  const candidate = { form: "directory", file: uri, directory: "", defaultName: frontmatter.name } as const;
  const parsed = await parseSkill(candidate, new TextDecoder().decode(bytes));
  const written = parsed.frontmatter ?? {};
  const fields = new Set([...Object.keys(frontmatter), ...Object.keys(written)]);
  const different = [...fields].filter((field) => !isDeepStrictEqual(frontmatter[field], written[field]));
  if (different.length === 0) return undefined;
  const why = `its frontmatter is not what the server declares: ${showNames(different.map(shorten))} differ`;
  return refuseFile(label, uri, "remote.frontmatter", why).diagnostic;
}

export function refuseFile(
  label: string,
  uri: string,
  code: DiagnosticCode,
  why: string,
): { readonly ok: false; readonly diagnostic: Diagnostic } {
  return {
    ok: false,
    diagnostic: {
      code,
      severity: "error",
      path: remoteLocation({ server: label, uri }),
      message: `The file ${showPath(uri)} of the MCP server \`${label}\` is refused: ${why}.`,
      hint: `If the server has changed it, \`metier remote refresh ${label}\` reads what it declares now.`,
    },
  };
}

interface Content {
  readonly uri?: unknown;
  readonly text?: unknown;
  readonly blob?: unknown;
}

/** One content, of this URI: what else a server sends was not asked for. */
function findContent(
  uri: string,
  result: unknown,
): Content | { readonly code: DiagnosticCode; readonly fault: string } {
  const { contents } = result as { readonly contents?: unknown };
  const list = Array.isArray(contents) ? (contents as readonly Content[]) : [];
  const [first, ...more] = list;
  const other = list.find((content) => content?.uri !== uri);
  if (first && other) {
    return {
      code: "remote.redirect",
      fault: `the server answers with ${showPath(String(other.uri))} instead`,
    };
  }
  if (first && more.length === 0) return first;
  return { code: "remote.content", fault: `the server answers with ${list.length} contents instead of one` };
}

/** Base64 that is not written as it should be could stand for two things. */
function readBytes({ text, blob }: Content): Uint8Array | undefined {
  if (typeof text === "string") return Buffer.from(text);
  if (typeof blob !== "string") return undefined;
  const bytes = Buffer.from(blob, "base64");
  return bytes.toString("base64") === blob ? bytes : undefined;
}

const MAX_FIELD = 40;

function shorten(field: string): string {
  return field.length > MAX_FIELD ? `${field.slice(0, MAX_FIELD)}…` : field;
}
