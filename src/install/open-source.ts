/** From an address to the skills it brings: fetched into the quarantine, within limits, read and identified. */
import { basename, relative, sep } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import { isSkillName } from "../skill/skill-name.ts";
import { type FetchedSource, fetchSource } from "./fetch-source.ts";
import { findSourceSkills, type SourceSkill } from "./find-source-skills.ts";
import { holdToName } from "./hold-to-name.ts";
import { type FaultOutcome, faulty } from "./install-fault.ts";
import type { InstallParts, InstallRequest } from "./install-request.ts";
import type { Quarantine } from "./quarantine.ts";
import type { SourceAddress } from "./source-address.ts";
import { SOURCE_LIMITS } from "./source-limits.ts";

export interface OpenedSource {
  readonly ok: true;
  readonly address: SourceAddress;
  readonly source: FetchedSource;
  /** At least one. */
  readonly skills: readonly SourceSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface OpenOptions extends Pick<InstallRequest, "link" | "skills" | "signal" | "onProgress"> {
  readonly parts: InstallParts;
  readonly quarantine: Quarantine;
}

export async function openSource(
  address: SourceAddress,
  options: OpenOptions,
): Promise<OpenedSource | FaultOutcome> {
  const { parts, quarantine, link, skills: asked, signal, onProgress } = options;
  const wanted = asked?.every(isSkillName) ? asked : undefined;
  const fetched = await fetchSource(address, {
    into: quarantine.makeFolder(),
    limits: SOURCE_LIMITS,
    environment: parts.environment,
    store: parts.places.base,
    ...(parts.registry !== undefined && { registry: parts.registry }),
    ...(parts.addresses && { addresses: parts.addresses }),
    ...(link && { link }),
    ...(wanted && { wanted }),
    ...(signal && { signal }),
    ...(onProgress && { onProgress }),
  });
  if (!fetched.ok) return fetched;
  const { source } = fetched;
  const found = await findSourceSkills(source, parts.profile, rootName(address));
  const here = realPathOr(source.folder);
  const tell = (diagnostic: Diagnostic): Diagnostic => ({
    ...diagnostic,
    path: pathIn(here, diagnostic.path),
  });
  const diagnostics = [...source.diagnostics, ...found.diagnostics].map(tell);
  if (found.skills.length === 0) return noSkill(address, diagnostics);
  const named = await Promise.all(found.skills.map(holdToName));
  const skills = named.map((skill) => ({ ...skill, diagnostics: skill.diagnostics.map(tell) }));
  return { ok: true, address, source, skills, diagnostics };
}

/** The quarantine is gone when someone reads of it: what counts is the place inside the source. */
function pathIn(folder: string, path: string): string {
  return isInside(path, folder) ? relative(folder, path).split(sep).join("/") || "." : path;
}

/** What a skill at the root is called if it does not say so itself. */
function rootName(address: SourceAddress): string {
  const place =
    address.kind === "npm" ? address.name : address.kind === "folder" ? address.path : address.url;
  return basename(place).replace(/\.(?:git|md|zip|tgz|tar(?:\.gz)?)$/i, "");
}

function noSkill({ canonical }: SourceAddress, diagnostics: readonly Diagnostic[]): FaultOutcome {
  const error = diagnostics.find(({ severity }) => severity === "error");
  return faulty(
    "install.no_skill",
    `No skill was found in \`${canonical}\`.${error ? ` ${error.message}` : ""}`,
    "A skill is a folder with a `SKILL.md`; it may lie at most five folders deep.",
  );
}
