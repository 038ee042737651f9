/**
 * Every skill of a catalog with its own address, including files that aren't valid skills: what the catalog page lists,
 * and what an address leads to. Pure: it takes a catalog and reads nothing.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { isInside } from "@metier/base/places";
import { compareText } from "@metier/base/text";
import { type Catalog, candidateForFile, formOfFile, type Skill, type SkillRoot } from "@metier/skills";
import type { ApiCatalogSkill } from "../api.ts";
import { boundText, MOST_DESCRIPTION } from "./bounds.ts";

/** A skill with its address. */
export interface KnownSkill extends Pick<Skill, "name" | "form" | "location" | "directory" | "root"> {
  readonly address: string;
  readonly source: ApiCatalogSkill["source"];
  /** As addresses and lists name it. */
  readonly scope: string;
  /** Absent: its file cannot be loaded. */
  readonly skill?: Skill | undefined;
  readonly status: ApiCatalogSkill["status"];
  readonly reason?: string | undefined;
  readonly trust: Skill["trust"];
  readonly diagnostics: readonly Diagnostic[];
}

interface CatalogSource {
  readonly catalog: Pick<Catalog, "all" | "diagnostics">;
  readonly roots: readonly SkillRoot[];
  readonly source: ApiCatalogSkill["source"];
  /** In place of the scope that the catalog has. */
  readonly scope?: string;
}

/** By name, the one that wins first; then files that cannot be loaded. */
export function knowSkills({ catalog, roots, source, scope }: CatalogSource): readonly KnownSkill[] {
  const skills = catalog.all.map((skill) => ({
    name: skill.name,
    form: skill.form,
    location: skill.location,
    directory: skill.directory,
    root: skill.root,
    source,
    scope: scope ?? skill.scope,
    skill,
    status: skill.status,
    reason: skill.reason,
    trust: skill.trust,
    diagnostics: skill.diagnostics,
  }));
  const invalid = findInvalid(catalog, roots).map((file) => ({
    ...file,
    source,
    scope: scope ?? file.scope,
  }));
  return giveAddresses([...skills, ...invalid]);
}

/** What the catalog says that is about no skill. */
export function otherDiagnostics(
  { diagnostics }: Pick<Catalog, "diagnostics">,
  known: readonly KnownSkill[],
): readonly Diagnostic[] {
  const files = new Set(known.map(({ location }) => location));
  return diagnostics.filter(({ path }) => !files.has(path));
}

/** Files with an error that no skill was made of. */
function findInvalid(
  { all, diagnostics }: Pick<Catalog, "all" | "diagnostics">,
  roots: readonly SkillRoot[],
): readonly Omit<KnownSkill, "address" | "source">[] {
  const loaded = new Set(all.map(({ location }) => location));
  const byFile = Map.groupBy(
    diagnostics.filter(({ path }) => !loaded.has(path)),
    ({ path }) => path,
  );
  return [...byFile].flatMap(([file, found]) => {
    const error = found.find(({ severity }) => severity === "error");
    const form = formOfFile(file);
    const root = nearestRoot(roots, file);
    if (error === undefined || form === undefined || root === undefined) return [];
    const { defaultName: name, directory } = candidateForFile(file, form);
    const trust = { level: "untrusted", reason: "The file cannot be loaded." } as const;
    const place = { name, form, location: file, directory, root: root.path, scope: root.scope };
    return [{ ...place, status: "invalid" as const, reason: error.message, trust, diagnostics: found }];
  });
}

function nearestRoot(roots: readonly SkillRoot[], file: string): SkillRoot | undefined {
  const above = roots.filter(({ path }) => path === file || isInside(file, path));
  return above.toSorted((a, b) => b.path.length - a.path.length)[0];
}

/** `scope:name`; of a second one of the same scope and name, `scope:name~2`. */
function giveAddresses(skills: readonly Omit<KnownSkill, "address">[]): readonly KnownSkill[] {
  const counts = new Map<string, number>();
  return skills
    .toSorted((a, b) => compareText(a.name, b.name))
    .map((skill) => {
      const plain = `${skill.scope}:${skill.name}`;
      const count = (counts.get(plain) ?? 0) + 1;
      counts.set(plain, count);
      return { ...skill, address: count === 1 ? plain : `${plain}~${count}` };
    });
}

/** What a line of the listing has around name and description, in characters. */
const LISTING_MARKUP = 70;
const CHARACTERS_PER_TOKEN = 4;

/** One line of the catalog. */
export function summarizeSkill(known: KnownSkill): ApiCatalogSkill {
  const { skill, reason, diagnostics, trust } = known;
  const description = skill?.description ?? "";
  const count = (severity: Diagnostic["severity"]): number =>
    diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  return {
    address: known.address,
    name: boundText(known.name, MOST_DESCRIPTION),
    description: boundText(description, MOST_DESCRIPTION),
    scope: known.scope,
    source: known.source,
    status: known.status,
    ...(reason !== undefined && { reason: boundText(reason, MOST_DESCRIPTION) }),
    trust: trust.level,
    trustReason: boundText(trust.reason, MOST_DESCRIPTION),
    isForUsers: skill?.manifest.userInvocable ?? false,
    isForModels: skill !== undefined && !skill.manifest.disableModelInvocation,
    listingTokens: aboutTokens(known.name.length + description.length + LISTING_MARKUP),
    bodyTokens: aboutTokens(skill?.body.characters ?? 0),
    errors: count("error"),
    warnings: count("warning"),
    tags: (skill?.manifest.tags ?? []).slice(0, 50).map((tag) => boundText(tag, 100)),
  };
}

function aboutTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
