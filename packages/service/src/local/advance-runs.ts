/**
 * Which `Metier` goes on with a run: the server's, or one over the uploaded version that the run was started with; for the
 * user of the run, with the secrets of the tenant. A secret is opened here, where the step runs, and nowhere else.
 */
import { forUploader } from "@metier/base/text";
import type { AdvanceOutcome, DurableRun, JournalStore, RecordStore, RunLease } from "@metier/durable";
import type { MasterKey } from "@metier/durable/snapshots";
import type { Metier, MetierOptions, ViewOptions } from "@metier/runtime";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import { findPinnedAgent } from "../runs/agent-versions.ts";
import { pinnedOf } from "../runs/project-run.ts";
import type { SkillShelf } from "../shelf/skill-shelf.ts";
import { ONLY_NAMED } from "./held-config.ts";

interface AdvanceParts {
  readonly journal: JournalStore;
  readonly records: RecordStore;
  readonly keys: Pick<MasterKey, "unseal">;
  readonly shelf: SkillShelf;
  /** The server's own, with more or other options. */
  open(more: MetierOptions): Promise<Metier>;
  /** How long a question waits for an answer, in milliseconds; absent: for ever. */
  readonly questionMs?: number | undefined;
}

const MOST_SECRETS = 1_000;
/** Versions that were used last stay open. */
const MOST_OPEN = 50;
const NOBODY = "nobody";

export function advanceRuns(parts: AdvanceParts): (lease: RunLease) => Promise<AdvanceOutcome> {
  const { journal } = parts;
  const own = parts.open({ journal });
  own.catch(() => undefined); // Whoever advances a run hears of it.
  const uploads = new Map<string, Promise<Metier>>();
  return async (lease) => {
    const run = await journal.get(lease.runId);
    if (run === undefined) return { kind: "ended" };
    const upload = await findUpload(parts, run);
    if (upload === undefined) return advanceWith(await own, run, lease, parts);
    // What it says about trust is for somebody who has an API, and no shell on this machine.
    return forUploader(grantRequest(upload), async () =>
      advanceWith(await openUpload(uploads, upload, parts), run, lease, parts),
    );
  };
}

async function advanceWith(
  metier: Metier,
  run: DurableRun,
  lease: RunLease,
  parts: AdvanceParts,
): Promise<AdvanceOutcome> {
  // Days may have passed: what is trusted, locked and configured now decides whether it goes on.
  if (run.lastEvent > 0) await metier.reload();
  const view = metier.for({
    userId: run.userId ?? NOBODY,
    tenantId: run.tenant === DEFAULT_TENANT ? undefined : run.tenant,
    env: await openSecrets(parts, run.tenant),
    ...(await narrowToAgent(parts, run)),
  });
  return view.durable.advance(lease, { questionMs: parts.questionMs });
}

interface UploadFolder {
  readonly name: string;
  readonly digest: string;
  readonly path: string;
  readonly isTrusted: boolean;
}

/** `undefined`: it is a skill of the server, or of nobody any more, which the run then says. */
async function findUpload({ shelf }: AdvanceParts, run: DurableRun): Promise<UploadFolder | undefined> {
  const { tenant, skill } = run;
  const version = pinnedOf(run).skillVersion;
  if (skill === undefined || typeof version !== "string") return undefined;
  const path = await shelf.folder(tenant, skill, version);
  const known = (await shelf.versions(tenant, skill)).find(({ digest }) => digest === version);
  if (path === undefined) return undefined;
  return { name: skill, digest: version, path, isTrusted: known?.trust === "trusted" };
}

function grantRequest({ name, digest }: UploadFolder): string {
  return `\`POST /v1/skills/${name}/versions/${digest}/grant\``;
}

/** One for each version and its trust: a grant makes a new one. */
function openUpload(
  uploads: Map<string, Promise<Metier>>,
  { path, isTrusted }: UploadFolder,
  { open, journal }: AdvanceParts,
): Promise<Metier> {
  const key = `${isTrusted} ${path}`;
  const opened =
    uploads.get(key) ??
    open({
      journal,
      paths: [path],
      trustedPaths: isTrusted ? [path] : [],
      config: ONLY_NAMED,
      bundled: false,
    });
  uploads.delete(key);
  uploads.set(key, opened);
  const [oldest] = uploads.keys();
  if (uploads.size > MOST_OPEN && oldest !== undefined) uploads.delete(oldest);
  return opened;
}

/** As `openSecrets` opens them. */
export async function listSecretNames(records: RecordStore, tenant: string): Promise<readonly string[]> {
  return (await records.list({ tenant, kind: "secret", limit: MOST_SECRETS })).map(({ id }) => id);
}

/** Skills get those they declare. A secret whose key is gone is missing, as if nobody had written it. */
async function openSecrets(
  { records, keys }: AdvanceParts,
  tenant: string,
): Promise<Readonly<Record<string, string>>> {
  const stored = await records.list({ tenant, kind: "secret", limit: MOST_SECRETS });
  const opened = stored.flatMap(({ id, body: { sealed } }) => {
    if (typeof sealed !== "string") return [];
    const text = keys.unseal({ tenant, purpose: `secret/${id}` }, sealed);
    return text.ok ? [[id, text.value] as const] : [];
  });
  return Object.fromEntries(opened);
}

/** Skills and tools that its agent names, in the version that the run was started with; absent: all. */
async function narrowToAgent(
  { records }: AdvanceParts,
  run: DurableRun,
): Promise<Pick<ViewOptions, "allow" | "onlyTools">> {
  const { tenant, skill } = run;
  const { agent } = pinnedOf(run);
  if (typeof agent !== "string") return {};
  const pinned = await findPinnedAgent(records, tenant, agent);
  if (pinned === undefined) return { allow: [], onlyTools: [] }; // What it was limited to is not known any more.
  const { skills, tools } = pinned.definition;
  const allow = skills === undefined || skill === undefined ? skills : [skill, ...skills];
  return { allow, onlyTools: tools };
}
