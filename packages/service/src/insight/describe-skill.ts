/** The page of one skill: everything known about it, even if its file can't be loaded. */
import { readBounded } from "@metier/base/files";
import type { JsonSchema } from "@metier/base/json";
import {
  candidateForFile,
  MAX_SKILL_BYTES,
  type ParsedSkill,
  parseSkill,
  validateSkill,
} from "@metier/skills";
import type { ApiSkill } from "../api.ts";
import { boundText, MOST_INSTRUCTIONS, showDiagnostics } from "./bounds.ts";
import { describeManifest } from "./describe-manifest.ts";
import { type KnownSkill, summarizeSkill } from "./know-skills.ts";
import type { LookedOver } from "./look-over.ts";
import { listSkillFiles } from "./skill-files.ts";

/** What the machine knows about a skill besides its files. */
export type SkillFacts = Pick<ApiSkill, "grants" | "versions" | "tests" | "capabilities"> & {
  /** For a skill passed as an object. */
  readonly instructions?: string | undefined;
};

interface SkillPageParts {
  readonly known: KnownSkill;
  /** All of the catalog, for those of the same name. */
  readonly all: readonly KnownSkill[];
  readonly linkRoots: readonly string[];
  readonly looked: LookedOver;
  readonly facts: SkillFacts;
}

export async function describeSkill({
  known,
  all,
  linkRoots,
  looked,
  facts,
}: SkillPageParts): Promise<ApiSkill> {
  const { skill } = known;
  const { instructions: given, ...told } = facts;
  const parsed = await parseFile(known);
  const manifest = skill?.manifest ?? (parsed && validateSkill(parsed, "lenient").manifest);
  const { displayName, inputSchema } = manifest ?? {};
  const shadows = (skill?.shadows ?? []).flatMap((place) => addressOf(all, known.name, place) ?? []);
  const shadowedBy = skill?.shadowedBy && addressOf(all, known.name, skill.shadowedBy);
  return {
    ...summarizeSkill(known),
    ...(displayName !== undefined && { displayName }),
    instructions: boundText(given ?? parsed?.body ?? "", MOST_INSTRUCTIONS),
    manifest: parsed ? describeManifest(parsed, manifest, known.diagnostics) : [],
    files: listSkillFiles(known, linkRoots),
    ...(looked.digest !== undefined && { digest: looked.digest }),
    ...told,
    clients: looked.clients,
    diagnostics: showDiagnostics(known.diagnostics, known.directory),
    findings: looked.findings,
    shadows,
    ...(shadowedBy !== undefined && { shadowedBy }),
    ...(inputSchema !== undefined && { inputSchema: inputSchema as JsonSchema }),
    arguments: manifest?.arguments ?? [],
  };
}

/** `undefined`: it has no file, or the file can't be read anymore. */
async function parseFile({ location, form, directory }: KnownSkill): Promise<ParsedSkill | undefined> {
  const read = location === "" ? undefined : readBounded(location, MAX_SKILL_BYTES);
  return read?.ok ? await parseSkill(candidateForFile(location, form, directory), read.text) : undefined;
}

function addressOf(
  all: readonly KnownSkill[],
  name: string,
  { location }: { readonly location: string },
): string | undefined {
  return all.find((other) => other.name === name && other.location === location)?.address;
}
