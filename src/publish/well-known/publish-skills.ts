/**
 * `metier publish --well-known`: skills become files that a web server serves, with the index by which clients find them
 * (Agent Skills Discovery, version 0.2.0). The same skills give the same bytes on every machine.
 */
import { join, resolve } from "node:path";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { DISCOVERY_SCHEMA, MAX_SKILLS } from "../../install/well-known/skill-index.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import type { Finding } from "../../scan/finding.ts";
import type { SkippedPart } from "../../scan/scan-limits.ts";
import { isPlainSkillName } from "../../skill/skill-name.ts";
import type { Profile } from "../../validate/profiles.ts";
import type { LeftOut } from "../left-out.ts";
import { type PreparedSkill, prepareSkills } from "../prepare-skills.ts";
import { type PublishRefusal, refusePublish } from "../publish-outcome.ts";
import { withStage } from "../stage-skill.ts";
import { readBaseUrl } from "./base-url.ts";
import { type Artifact, buildArtifact } from "./build-artifact.ts";
import { INDEX_FILE } from "./published-record.ts";
import { writeSite } from "./write-site.ts";

export interface PublishOptions {
  /** Names and paths of skills; default: all below the working directory. */
  readonly skills?: readonly string[];
  /** The folder that a web server serves as the root of a site. */
  readonly folder: string;
  /** Where it is served, `https://…`; default: addresses in the index are relative to it. */
  readonly baseUrl?: string | undefined;
  /** How strict the check is. Default: `strict`, the specification to the letter. */
  readonly profile?: Profile | undefined;
  /** For relative paths. Default: that of the process. */
  readonly cwd?: string;
  /** Also replace files in the folder that are not ours. */
  readonly force?: boolean;
  /** Write nothing. */
  readonly dryRun?: boolean;
}

export interface PublishedSkill {
  readonly name: string;
  readonly description: string;
  readonly type: "skill-md" | "archive";
  readonly url: string;
  /** Of what is downloaded. */
  readonly digest: string;
  /** Of what is downloaded, in bytes. */
  readonly size: number;
  /** Content identity: what `metier install` records. */
  readonly identity: string;
  readonly leftOut: readonly LeftOut[];
  /** What the scan found that does not keep it from being published. */
  readonly findings: readonly Finding[];
  /** What the scan could not look at. */
  readonly unscanned: readonly SkippedPart[];
}

export interface PublishReport {
  readonly ok: true;
  /** The index file. */
  readonly index: string;
  /** By name. */
  readonly skills: readonly PublishedSkill[];
  /** Files of an earlier publish that are gone. */
  readonly removed: readonly string[];
  /** Files of an earlier publish that someone has changed, and that stay. */
  readonly kept: readonly string[];
  /** Warnings and notes about the skills. */
  readonly diagnostics: readonly Diagnostic[];
}

export type PublishOutcome = PublishReport | PublishRefusal;

export const WELL_KNOWN_FOLDER: string = join(".well-known", "agent-skills");

/** Nothing is written unless every skill may be published. */
export async function publishSkills(
  metier: Pick<Metier, "config" | "require">,
  options: PublishOptions,
): Promise<PublishOutcome> {
  const base = options.baseUrl === undefined ? undefined : readBaseUrl(options.baseUrl);
  if (base?.ok === false) {
    return refusePublish("publish.usage", base.message, "Give the address under which the folder is served.");
  }
  const cwd = resolve(options.cwd ?? process.cwd());
  return withStage(async (stage) => {
    const site = resolve(cwd, options.folder);
    const { skills: asked = [], profile } = options;
    const prepared = await prepareSkills({ metier, asked, cwd, output: site, profile, stage });
    if (!prepared.ok) return prepared;
    const fault = refuseNames(prepared.skills);
    if (fault !== undefined) return fault;
    const folder = join(site, WELL_KNOWN_FOLDER);
    const address = base?.url === undefined ? "" : `${base.url}.well-known/agent-skills/`;
    const made = prepared.skills.map((skill) => ({ skill, artifact: buildArtifact(skill) }));
    const skills = made.map(({ skill, artifact }) => describe(skill, artifact, address));
    const written = options.dryRun
      ? ({ ok: true, removed: [], kept: [] } as const)
      : writeSite(
          folder,
          { index: renderIndex(skills), artifacts: made.map(({ artifact }) => artifact) },
          { force: options.force ?? false },
        );
    if (!written.ok) return refuseTaken(folder, written.taken);
    const { removed, kept } = written;
    const diagnostics = [...prepared.diagnostics, ...prepared.skills.flatMap((skill) => skill.diagnostics)];
    return { ok: true, index: join(folder, INDEX_FILE), skills, removed, kept, diagnostics };
  });
}

function describe(
  { name, manifest: { description }, identity, leftOut, findings, unscanned }: PreparedSkill,
  { type, file, digest, bytes }: Artifact,
  address: string,
): PublishedSkill {
  const url = `${address}${file}`;
  const size = bytes.length;
  return { name, description, type, url, digest, size, identity, leftOut, findings, unscanned };
}

function renderIndex(published: readonly PublishedSkill[]): string {
  const skills = published.map(({ name, type, description, url, digest }) => ({
    name,
    type,
    description,
    url,
    digest,
  }));
  return `${JSON.stringify({ $schema: DISCOVERY_SCHEMA, skills }, undefined, 2)}\n`;
}

/** Stricter than the specification of skills: names are parts of addresses. */
function refuseNames(skills: readonly PreparedSkill[]): PublishRefusal | undefined {
  if (skills.length > MAX_SKILLS) {
    return refusePublish(
      "publish.usage",
      `There are ${skills.length} skills; an index may list ${MAX_SKILLS}.`,
      "Publish them in several folders.",
    );
  }
  const foreign = skills.filter(({ name }) => !isPlainSkillName(name));
  if (foreign.length === 0) return undefined;
  const names = foreign.map(({ name }) => `\`${name}\``).join(", ");
  return refusePublish(
    "publish.refused",
    `Nothing was written. An index may list only names of a–z, 0–9 and hyphens, not ${names}.`,
    "Give the skill such a `name`, and its folder too.",
  );
}

function refuseTaken(folder: string, taken: readonly string[]): PublishRefusal {
  const files = taken.slice(0, 5).map((file) => `\`${file}\``);
  const more = taken.length > files.length ? ` and ${taken.length - files.length} more` : "";
  return refusePublish(
    "publish.taken",
    `Nothing was written. In \`${folder}\`, ${files.join(", ")}${more} is not what \`metier publish\` wrote there.`,
    "Look at it and move it away; `--force` replaces it.",
  );
}
