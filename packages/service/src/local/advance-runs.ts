/**
 * Which `Metier` continues a run: the server's, or one with exactly the contents the run was ordered with; for the
 * run's user, with the tenant's secrets. Secrets are opened only here, where the step runs.
 */
import { done, type Refusal, type Result } from "@metier/base/result";
import { forUploader } from "@metier/base/text";
import { dropOldest } from "@metier/base/turns";
import {
  type AdvanceOutcome,
  type DurableRun,
  forAllTenants,
  forTenant,
  type JournalStore,
  type RecordStore,
  type RunLease,
} from "@metier/durable";
import type { TenantKeys } from "@metier/durable/snapshots";
import type { Metier, MetierOptions, ViewOptions } from "@metier/runtime";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import { openOwnModels, readOwnModels } from "../providers/model-access.ts";
import type { TenantEgress } from "../providers/private-hosts.ts";
import { readLeft } from "../quotas/hold-to-quotas.ts";
import { findPinnedAgent } from "../runs/agent-versions.ts";
import { pinnedOf } from "../runs/project-run.ts";
import type { SkillAtHand, SkillShelf } from "../shelf/skill-shelf.ts";
import { ONLY_NAMED } from "./held-config.ts";

interface AdvanceParts {
  readonly journal: JournalStore;
  readonly records: RecordStore;
  readonly keys: Pick<TenantKeys, "of">;
  readonly shelf: SkillShelf;
  /** Which tenant addresses may be contacted. */
  readonly egress: TenantEgress;
  /** The server's own, with more or other options. */
  open(more: MetierOptions): Promise<Metier>;
  /** How long a question waits for an answer, in milliseconds; absent: forever. */
  readonly questionMs?: number | undefined;
}

const MOST_SECRETS = 1_000;
/** Recently used versions stay open. */
const MOST_OPEN = 50;
const NOBODY = "nobody";

export function advanceRuns(parts: AdvanceParts): (lease: RunLease) => Promise<AdvanceOutcome> {
  const { journal } = parts;
  const own = parts.open({ journal });
  own.catch(() => undefined); // Whoever advances a run gets the error.
  const opened = new Map<string, Promise<Metier>>();
  const advance = async (run: DurableRun, lease: RunLease): Promise<AdvanceOutcome> => {
    const skills = await findSkills(parts, run);
    if (!skills.ok) return endWith(skills.refusal, lease, journal);
    if (skills.value === "home") return advanceWith(await own, run, lease, parts);
    const metier = await openOver(opened, skills.value, parts);
    if (run.tenant === DEFAULT_TENANT && !isOfUpload(run)) return advanceWith(metier, run, lease, parts);
    // Its note about trust is for someone with an API, not a shell on this machine.
    return forUploader(grantRequest(skills.value), () => advanceWith(metier, run, lease, parts));
  };
  return async (lease) => {
    const run = await forAllTenants(() => journal.get(lease.runId));
    return run === undefined ? { kind: "ended" } : forTenant(run.tenant, () => advance(run, lease));
  };
}

/** Its content isn't what it should be, and won't be later. */
async function endWith(
  { message, hint }: Refusal,
  lease: RunLease,
  journal: JournalStore,
): Promise<AdvanceOutcome> {
  const { endUnrun } = await import("@metier/run/engine");
  return endUnrun(lease, journal, new Error([message, hint].filter(Boolean).join(" ")));
}

async function advanceWith(
  metier: Metier,
  run: DurableRun,
  lease: RunLease,
  parts: AdvanceParts,
): Promise<AdvanceOutcome> {
  // Days may have passed: current trust, locks and configuration decide whether it continues.
  if (run.lastEvent > 0) await metier.reload();
  const [env, models, agent] = await Promise.all([
    openSecrets(parts, run.tenant),
    readOwnModels(parts.records, run.tenant),
    narrowToAgent(parts, run),
  ]);
  const view = metier.for({
    userId: run.userId ?? NOBODY,
    tenantId: callerTenant(run.tenant),
    env,
    ownModels: openOwnModels(models, env, parts.egress),
    limits: readLeft(run),
    ...agent,
  });
  return view.durable.advance(lease, { questionMs: parts.questionMs });
}

/** Data of users of `default` is kept like that of a program's users on this machine. */
export function callerTenant(tenant: string): string | undefined {
  return tenant === DEFAULT_TENANT ? undefined : tenant;
}

/** `home`: this machine's skills. Any other run has exactly those pinned when it was ordered. */
async function findSkills(
  { shelf }: AdvanceParts,
  run: DurableRun,
): Promise<Result<"home" | readonly SkillAtHand[]>> {
  const { tenant, skill } = run;
  const { skillVersion, catalog } = pinnedOf(run);
  if (typeof catalog === "string") return shelf.openPinned(tenant, catalog);
  if (skill !== undefined && typeof skillVersion === "string") {
    const opened = await shelf.open(tenant, skill, skillVersion);
    if (!opened.ok) return opened;
    return done(opened.value ? [opened.value] : []); // A removed one belongs to nobody anymore, which the run reports.
  }
  if (tenant === DEFAULT_TENANT) return done("home");
  // Ordered by an older version, in which the server's skills belonged to everyone.
  const pin = skill === undefined ? await shelf.pin(tenant, undefined) : done(undefined);
  if (!pin.ok) return pin;
  return pin.value === undefined ? done([]) : shelf.openPinned(tenant, pin.value);
}

function isOfUpload(run: DurableRun): boolean {
  const { skillVersion, catalog } = pinnedOf(run);
  return typeof skillVersion === "string" && catalog === undefined;
}

function grantRequest([first, ...others]: readonly SkillAtHand[]): string {
  const { name, digest } =
    first !== undefined && others.length === 0 ? first : { name: "{name}", digest: "{digest}" };
  return `\`POST /v1/skills/${name}/versions/${digest}/grant\``;
}

/** One per list of contents and their trust: a grant makes a new one. */
function openOver(
  known: Map<string, Promise<Metier>>,
  skills: readonly SkillAtHand[],
  { open, journal }: AdvanceParts,
): Promise<Metier> {
  const key = JSON.stringify(skills.map(({ path, isTrusted }) => [path, isTrusted]));
  const metier =
    known.get(key) ??
    open({
      journal,
      paths: skills.map(({ path }) => path),
      trustedPaths: skills.filter(({ isTrusted }) => isTrusted).map(({ path }) => path),
      config: ONLY_NAMED,
      bundled: false,
    });
  known.delete(key);
  known.set(key, metier);
  metier.catch(() => known.delete(key)); // Whoever advances the run gets the error, and the next one tries again.
  dropOldest(known, MOST_OPEN);
  return metier;
}

/** As `openSecrets` opens them. */
export async function listSecretNames(records: RecordStore, tenant: string): Promise<readonly string[]> {
  return (await records.list({ tenant, kind: "secret", limit: MOST_SECRETS })).map(({ id }) => id);
}

/** Skills get those they declare. A secret whose key is gone is missing, as if it was never written. */
async function openSecrets(
  { records, keys }: AdvanceParts,
  tenant: string,
): Promise<Readonly<Record<string, string>>> {
  const stored = await records.list({ tenant, kind: "secret", limit: MOST_SECRETS });
  if (stored.length === 0) return {};
  const own = await keys.of(tenant);
  const opened = stored.flatMap(({ id, body: { sealed } }) => {
    if (typeof sealed !== "string") return [];
    const text = own.unseal({ tenant, purpose: `secret/${id}` }, sealed);
    return text.ok ? [[id, text.value] as const] : [];
  });
  return Object.fromEntries(opened);
}

/** Skills and tools that its agent names, in the version the run started with; absent: all. */
async function narrowToAgent(
  { records }: AdvanceParts,
  run: DurableRun,
): Promise<Pick<ViewOptions, "allow" | "onlyTools">> {
  const { tenant, skill } = run;
  const { agent } = pinnedOf(run);
  if (typeof agent !== "string") return {};
  const pinned = await findPinnedAgent(records, tenant, agent);
  if (pinned === undefined) return { allow: [], onlyTools: [] }; // Its restrictions are no longer known.
  const { skills, tools } = pinned.definition;
  const allow = skills === undefined || skill === undefined ? skills : [skill, ...skills];
  return { allow, onlyTools: tools };
}
