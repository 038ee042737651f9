/** What one tenant may see of skills, on one snapshot. Slow parts are computed once, on first request. */

import type { Diagnostic } from "@metier/base/diagnostic";
import { done } from "@metier/base/result";
import { once } from "@metier/base/turns";
import {
  type FindIndex,
  loadTokenCounter,
  openFindIndex,
  planListing,
  type Skill,
  visibleSkills,
} from "@metier/skills";
import type { ApiCatalog } from "../api.ts";
import { refuseMissing } from "../http/refusal.ts";
import { MOST_SKILLS, showDiagnostics } from "./bounds.ts";
import { compareSkills, explainRouting } from "./compare-skills.ts";
import { compareVersions } from "./compare-versions.ts";
import { describeSkill, type SkillFacts } from "./describe-skill.ts";
import { openIterations } from "./eval-iterations.ts";
import { findSkills } from "./find-skills.ts";
import type { SkillInsight } from "./insight.ts";
import { type KnownSkill, summarizeSkill } from "./know-skills.ts";
import type { LookedOver, LookOver } from "./look-over.ts";
import { readSkillFile } from "./skill-files.ts";

interface SkillInsightParts {
  readonly known: readonly KnownSkill[];
  /** Problems outside of any skill. */
  readonly diagnostics: readonly Diagnostic[];
  /** The skills directories in use. */
  readonly linkRoots: readonly string[];
  readonly lookOver: LookOver;
  /** Rules of the scan that the config leaves out. */
  readonly ignoredRules: readonly string[];
  /** Where evaluation workspaces may be. */
  readonly evalFolders: readonly string[];
  readonly cacheFolder?: string | undefined;
  /** The same value without this machine's paths. */
  hide<Value>(value: Value): Value;
  factsOf(known: KnownSkill, digest: string | undefined): Promise<SkillFacts>;
  /** Where these versions of a skill are, in order; `undefined`: it has no such version. */
  versionFolders(known: KnownSkill, digests: readonly string[]): Promise<readonly (string | undefined)[]>;
}

export function openSkillInsight(parts: SkillInsightParts): Omit<SkillInsight, "plan"> {
  const { known, hide, linkRoots, lookOver, ignoredRules } = parts;
  const reach = addressBook(known);
  const usable = visibleSkills(
    known.flatMap(({ skill, status }) => (status === "enabled" && skill ? [skill] : [])),
  );
  const iterations = openIterations(parts.evalFolders);
  const openIndex = once(() => openIndexOf(usable, parts.cacheFolder));
  const look = (asked: KnownSkill): Promise<LookedOver> =>
    asked.location === ""
      ? Promise.resolve({ findings: [], clients: [] })
      : lookOver.look(asked, asked.name, ignoredRules);
  return {
    catalog: hide(listCatalog(parts)),
    usable: usable.map(({ name }) => name),
    find: async (query, limit) => hide(findSkills(await openIndex(), usable, query, limit)),
    async listing(budget) {
      const countTokens = await loadTokenCounter();
      const { text, report } = planListing(usable, { budget, countTokens, location: "none" });
      return hide({ text, ...report });
    },
    async skill(address) {
      const asked = reach(address);
      if (asked === undefined) return undefined;
      const looked = await look(asked);
      const facts = await parts.factsOf(asked, looked.digest);
      return hide(await describeSkill({ known: asked, all: known, linkRoots, looked, facts }));
    },
    async file(address, path) {
      const asked = reach(address);
      return asked && hide(readSkillFile(asked, path, linkRoots));
    },
    async diff(address, from, to) {
      const asked = reach(address);
      if (asked === undefined) return refuseMissing("skill", address, "/v1/catalog");
      const folders = await parts.versionFolders(asked, [from, to]);
      const compared = await compareVersions({ known: asked, from, to, folders, lookOver, ignoredRules });
      return compared.ok ? done(hide(compared.value)) : compared;
    },
    routing: once(() => compareSkills(usable)),
    why: async (query, name) => hide(await explainRouting(usable, query, name)),
    evals: async () => hide(iterations.list()),
    iteration: async (name, number) => hide(iterations.read(name, number)),
    output: async (name, number, path) => hide(iterations.output(name, number, path)),
  };
}

function listCatalog({ known, diagnostics }: SkillInsightParts): ApiCatalog {
  return {
    data: known.slice(0, MOST_SKILLS).map(summarizeSkill),
    diagnostics: showDiagnostics(diagnostics, ""),
  };
}

/** By address; a name alone is the one that wins it. */
function addressBook(known: readonly KnownSkill[]): (address: string) => KnownSkill | undefined {
  const byAddress = new Map(known.map((skill) => [skill.address, skill]));
  const byName = new Map<string, KnownSkill>();
  for (const skill of known) {
    const other = byName.get(skill.name);
    if (other === undefined || isHidden(other)) byName.set(skill.name, skill);
  }
  return (address) => byAddress.get(address) ?? byName.get(address);
}

function isHidden({ status }: KnownSkill): boolean {
  return status === "shadowed" || status === "invalid";
}

function openIndexOf(skills: readonly Skill[], cacheFolder: string | undefined): Promise<FindIndex> {
  return openFindIndex({ skills, cacheFolder });
}
