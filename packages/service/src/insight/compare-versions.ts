/** Compares two versions of a skill, with the scan findings on new lines. */

import { basename, join } from "node:path";
import { done, type Result } from "@metier/base/result";
import type { ComparedFile } from "@metier/install/engine";
import { type IdentifiedFile, identifyFolder } from "@metier/skills/trust";
import type { ApiDiff, ApiDiffLine, ApiFileDiff, ApiFinding } from "../api.ts";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { MOST_FILES } from "./bounds.ts";
import type { KnownSkill } from "./know-skills.ts";
import type { LookOver } from "./look-over.ts";

/** Of all hunks together. */
const MOST_LINES = 10_000;

interface Comparing {
  readonly known: KnownSkill;
  readonly from: string;
  readonly to: string;
  /** Where these two lie. */
  readonly folders: readonly (string | undefined)[];
  readonly lookOver: LookOver;
  readonly ignoredRules: readonly string[];
}

export async function compareVersions(asked: Comparing): Promise<Result<ApiDiff, HttpRefusal>> {
  const { known, from, to, folders, lookOver, ignoredRules } = asked;
  const before = openVersion(folders[0], from);
  const after = openVersion(folders[1], to);
  if (before === undefined || after === undefined) {
    const hint = "`versions` in `GET /v1/catalog/skills/{address}` lists the available versions.";
    return refuse(404, "version_not_found", "The skill has no such version here.", hint);
  }
  const { compareFiles } = await import("@metier/install/engine");
  const compared = compareFiles(before, after, MOST_LINES).slice(0, MOST_FILES);
  const location = join(after.directory, basename(known.location));
  const content = { form: known.form, directory: after.directory, location };
  const { findings } = await lookOver.look(content, known.name, ignoredRules);
  return done({ from, to, files: compared.map((file) => showFile(file, findings)) });
}

interface Version {
  readonly directory: string;
  readonly files: readonly IdentifiedFile[];
}

/** `undefined`: it is not there, or not what it was any more. */
function openVersion(directory: string | undefined, digest: string): Version | undefined {
  const identity = directory === undefined ? undefined : identifyFolder(directory);
  if (directory === undefined || !identity?.ok || identity.value.digest !== digest) return undefined;
  return { directory, files: identity.value.files };
}

function showFile({ path, change, hunks }: ComparedFile, findings: readonly ApiFinding[]): ApiFileDiff {
  const shown = hunks?.map(({ before, after, lines }) => ({ lines: numberLines(lines, before, after) }));
  const added = new Set(
    shown?.flatMap(({ lines }) => lines.flatMap(({ kind, newLine }) => (kind === "added" ? [newLine] : []))),
  );
  const isNew = (finding: ApiFinding): boolean =>
    finding.path === path && (change === "added" || added.has(finding.line));
  return {
    path,
    change: change === "mode" ? "changed" : change,
    ...(shown && { hunks: shown }),
    findings: findings.filter(isNew),
  };
}

function numberLines(
  lines: readonly Pick<ApiDiffLine, "kind" | "text">[],
  before: number,
  after: number,
): readonly ApiDiffLine[] {
  let oldLine = before;
  let newLine = after;
  return lines.map(({ kind, text }) => ({
    kind,
    text,
    ...(kind !== "added" && { oldLine: oldLine++ }),
    ...(kind !== "removed" && { newLine: newLine++ }),
  }));
}
