/**
 * What the service on one machine reports about its skills: the server's for the default tenant, and each tenant's
 * uploads. A new snapshot is made when the catalog or an upload changes; until then it is reused.
 */
import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { MetierError } from "@metier/base/errors";
import type { JsonObject } from "@metier/base/json";
import { isInside } from "@metier/base/places";
import { dropOldest } from "@metier/base/turns";
import { readOrder, toRequest } from "@metier/run";
import { createPathHider, type PathHider } from "@metier/run/events";
import type { Metier } from "@metier/runtime";
import { type Catalog, linkTargets } from "@metier/skills";
import { identifyContent } from "@metier/skills/trust";
import type { ApiPlan } from "../api.ts";
import { countEvalCases } from "../insight/count-cases.ts";
import { describePlan } from "../insight/describe-plan.ts";
import type { SkillFacts } from "../insight/describe-skill.ts";
import type { Insight, PlanCaller, SkillInsight } from "../insight/insight.ts";
import { type KnownSkill, knowSkills, otherDiagnostics } from "../insight/know-skills.ts";
import { openLookOver } from "../insight/look-over.ts";
import { openSkillInsight } from "../insight/open-skill-insight.ts";
import { describeGrants, listOwnVersions, nameProviders, showUpload } from "../insight/skill-facts.ts";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import type { ServedSkill } from "../shelf/skill-shelf.ts";
import { openServedSkills, type ServedSkillsParts } from "./served-skills.ts";
import { listUploads, openUploaded, stampUploads } from "./skills-at-hand.ts";

export interface LocalInsight extends Insight {
  /** Stops watching the server's skills. */
  close(): void;
}

export interface LocalInsightParts extends ServedSkillsParts {
  /** One that only searches these folders for skills. */
  openFolders(paths: readonly string[], trustedPaths: readonly string[]): Promise<Metier>;
  /** Of the secrets that runs of a tenant get. */
  secretNames(tenant: string): Promise<readonly string[]>;
  /** Where evaluation workspaces are searched, besides the skills themselves. */
  readonly evalFolders: readonly string[];
}

/** Recently viewed tenants. */
const MOST_TENANTS = 50;

interface TenantSnapshot {
  readonly catalog: Catalog;
  readonly uploads: string;
  readonly insight: Promise<SkillInsight>;
}

export function openLocalInsight(parts: LocalInsightParts): LocalInsight {
  const snapshots = new Map<string, TenantSnapshot>();
  const listeners = new Set<() => void>();
  const lookOver = openLookOver();
  let stop: (() => void) | undefined;
  let isClosed = false;
  const watchOwn = async (): Promise<Metier> => {
    const own = await parts.own();
    if (!isClosed) {
      stop ??= own.watch(() => {
        for (const listener of listeners) listener();
      });
    }
    return own;
  };
  return {
    async open(tenant) {
      const own = await watchOwn();
      const uploaded = await listUploads(parts.shelf, tenant);
      const uploads = stampUploads(uploaded);
      const known = snapshots.get(tenant);
      if (known?.catalog === own.catalog && known.uploads === uploads) return known.insight;
      const insight = makeInsight({ ...parts, metier: own, lookOver, tenant, uploaded });
      snapshots.delete(tenant);
      snapshots.set(tenant, { catalog: own.catalog, uploads, insight });
      insight.catch(() => snapshots.delete(tenant)); // Whoever asked hears of it.
      dropOldest(snapshots, MOST_TENANTS);
      return insight;
    },
    served: openServedSkills(parts),
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      isClosed = true;
      stop?.();
    },
  };
}

interface SnapshotParts extends LocalInsightParts {
  readonly metier: Metier;
  readonly lookOver: ReturnType<typeof openLookOver>;
  readonly tenant: string;
  /** All that is not of the home: for another tenant, all that it has. */
  readonly uploaded: readonly ServedSkill[];
}

async function makeInsight(parts: SnapshotParts): Promise<SkillInsight> {
  const { metier, tenant, lookOver } = parts;
  const { catalog, roots, config, places } = metier;
  const isHome = tenant === DEFAULT_TENANT;
  const own = isHome ? knowSkills({ catalog, roots, source: "server" }) : [];
  const uploads = await openUploads(parts);
  const paths = openHider(parts, uploads.folders);
  const linkRoots = [...(isHome ? linkTargets(roots) : []), ...uploads.folders.keys()];
  const hide = <Value>(value: Value): Value => paths.cleanJson(value) as Value;
  const factsOf = async (known: KnownSkill, digest: string | undefined): Promise<SkillFacts> => {
    const { capabilities = [] } = known.skill?.manifest ?? {};
    const tests = [...(await countTests(known)), ...countEvalCases(known, linkRoots)];
    const shared = { tests, capabilities: nameProviders(capabilities, config.config.capabilities) };
    if (known.source === "upload") return { ...shared, ...(await describeUpload(parts, known)) };
    if (known.scope === GIVEN) return { ...shared, versions: describeGiven(digest), grants: [] };
    const versions = listOwnVersions(known, digest, places).map(({ folder: _, ...version }) => version);
    const instructions = known.location === "" ? await readGiven(metier, known) : undefined;
    return { ...shared, versions, instructions, grants: describeGrants(known, metier.grants, digest) };
  };
  const insight = openSkillInsight({
    known: [...own, ...uploads.known],
    diagnostics: isHome ? otherDiagnostics(catalog, own) : [],
    linkRoots,
    lookOver,
    evalFolders: isHome ? findEvalFolders(own, parts.evalFolders) : [],
    ignoredRules: config.config.scan.ignore,
    cacheFolder: isHome ? places.cache : undefined,
    hide,
    factsOf,
    versionFolders: (known, digests) => findVersions(parts, known, digests),
  });
  return { ...insight, plan: async (order, caller) => hide(await planOrder(parts, uploads, order, caller)) };
}

const NOBODY = "nobody";

/** With the `Metier` that would run it, for the tenant's user, with secrets of the same names. */
async function planOrder(
  { metier, tenant, secretNames, openFolders }: SnapshotParts,
  uploads: Uploads,
  order: JsonObject,
  { userId = NOBODY, seesSystem }: PlanCaller,
): Promise<ApiPlan> {
  const read = readOrder(order);
  if (read?.kind !== "skill") throw new Error("A plan needs a skill.");
  // The person at this machine has what their command line has.
  if (read.caller?.isLocal)
    return describePlan(await metier.plan(toRequest(read)), { seesSystem, asksAlways: false });
  const isHome = tenant === DEFAULT_TENANT && !uploads.known.some(({ name }) => name === read.skill);
  const chosen = isHome ? metier : (uploads.metier ?? (await openFolders([], [])));
  const secrets = (await secretNames(tenant)).map((name) => [name, `${randomUUID()}`] as const);
  const view = chosen.for({
    userId,
    tenantId: tenant === DEFAULT_TENANT ? undefined : tenant,
    env: Object.fromEntries(secrets),
  });
  const planned = await view.plan(toRequest(read));
  return describePlan(planned, { seesSystem, asksAlways: read.approve === "every" });
}

/** Evaluations are where `metier eval` was started, or next to the skill. */
function findEvalFolders(own: readonly KnownSkill[], given: readonly string[]): readonly string[] {
  const beside = own.filter(({ location }) => location !== "").map(({ directory }) => dirname(directory));
  return [...new Set([...given, ...beside])];
}

interface Uploads {
  readonly known: readonly KnownSkill[];
  /** By their paths, what is shown in their place. */
  readonly folders: ReadonlyMap<string, string>;
  readonly metier?: Metier;
}

/** As scopes and addresses name them. */
const UPLOAD = "upload";
const GIVEN = "given";

async function openUploads({ shelf, openFolders, tenant, uploaded }: SnapshotParts): Promise<Uploads> {
  const shelved = await openUploaded(shelf, tenant, uploaded);
  const scopes = new Map(uploaded.map(({ name, source }) => [name, source === "upload" ? UPLOAD : GIVEN]));
  const folders = new Map(shelved.map(({ name, path }) => [path, `${scopes.get(name) ?? UPLOAD}:${name}`]));
  if (folders.size === 0) return { known: [], folders };
  const trusted = shelved.filter(({ isTrusted }) => isTrusted).map(({ path }) => path);
  const metier = await openFolders([...folders.keys()], trusted);
  const { catalog, roots } = metier;
  const known = [UPLOAD, GIVEN].flatMap((scope) => {
    const source = scope === UPLOAD ? "upload" : "server";
    const all = knowSkills({ catalog, roots, source, scope });
    const isShown = ({ directory, location }: KnownSkill): boolean =>
      (folders.get(directory) ?? folders.get(location))?.startsWith(`${scope}:`) ?? false;
    return all.filter(isShown).map(scope === UPLOAD ? showUploaded : showGiven);
  });
  return { known, folders, metier };
}

/** Its folder is named by digest, and the shelf decides its trust. */
function showUploaded(known: KnownSkill): KnownSkill {
  const { level } = known.trust;
  const reason =
    level === "trusted"
      ? "This exact version was granted."
      : "This version is not granted. An admin can grant it with `POST /v1/skills/{name}/versions/{digest}/grant`.";
  const diagnostics = known.diagnostics.filter(({ code }) => code !== "name.not-directory");
  return { ...known, trust: { level, reason }, diagnostics };
}

function showGiven(known: KnownSkill): KnownSkill {
  const { level } = known.trust;
  const reason =
    level === "trusted"
      ? "A trusted skill of the server that was given to the tenant."
      : "A skill of the server that is not trusted there.";
  return { ...known, trust: { level, reason } };
}

function describeGiven(digest: string | undefined): SkillFacts["versions"] {
  return digest === undefined ? [] : [{ digest, label: "given", isCurrent: true }];
}

async function describeUpload(
  { shelf, tenant, uploaded }: SnapshotParts,
  { name }: KnownSkill,
): Promise<Pick<SkillFacts, "versions" | "grants">> {
  const current = uploaded.find((skill) => skill.name === name)?.current;
  const versions = await shelf.versions(tenant, name);
  const grants = versions.flatMap(({ digest, grantedBy }) => {
    if (grantedBy === undefined) return [];
    return [
      { what: digest === current ? "exactly this content" : `different content: ${digest}`, by: grantedBy },
    ];
  });
  return { versions: versions.map((version) => showUpload(version, current)), grants };
}

async function findVersions(
  { shelf, tenant, metier }: SnapshotParts,
  known: KnownSkill,
  digests: readonly string[],
): Promise<readonly (string | undefined)[]> {
  if (known.source === "upload") {
    const opened = await Promise.all(digests.map((digest) => shelf.open(tenant, known.name, digest)));
    return opened.map((result) => (result.ok ? result.value?.path : undefined));
  }
  if (known.form !== "directory" || known.location === "") return digests.map(() => undefined);
  const identity = identifyContent(known);
  const now = identity.ok ? identity.value.digest : undefined;
  const versions = listOwnVersions(known, now, metier.places);
  return digests.map((wanted) => versions.find(({ digest }) => digest === wanted)?.folder);
}

async function countTests(known: KnownSkill): Promise<SkillFacts["tests"]> {
  if (known.form !== "directory" || known.location === "") return [];
  const { countTestCases } = await import("@metier/runtime/testing");
  const files = await countTestCases(known);
  return files.map(({ file, cases }) => ({ file, name: "tests", cases }));
}

/** For a skill passed as an object. */
async function readGiven(metier: Metier, { scope, name }: KnownSkill): Promise<string | undefined> {
  try {
    return (await metier.getInstructions(`${scope}:${name}`)).text;
  } catch (fault) {
    if (fault instanceof MetierError) return undefined; // The page has everything else.
    throw fault;
  }
}

/** Home and working directory have their own names; every other skills folder is named by its purpose. */
function openHider({ metier, hiddenFolders }: SnapshotParts, uploads: Uploads["folders"]): PathHider {
  const paths = createPathHider();
  for (const [folder, shown] of hiddenFolders) paths.hide(folder, shown);
  for (const [folder, shown] of uploads) paths.hide(folder, shown);
  const isHidden = (path: string): boolean => hiddenFolders.some(([folder]) => isInside(path, folder));
  for (const { path, scope } of metier.roots) if (!isHidden(path)) paths.hide(path, `${scope} skills`);
  return paths;
}
