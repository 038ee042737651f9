/**
 * What other machines store about a deleted user or tenant: skills' data, capability accounts, run folders. A record
 * tells each machine, which forgets it within seconds, or at its next start. The user's name in it is sealed with the
 * tenant's key. A machine records what it has forgotten, so that a user who returns later keeps their new data.
 */
import { randomUUID } from "node:crypto";
import { readBounded, writeAtomic } from "@metier/base/files";
import { presentFields } from "@metier/base/json";
import { fitShape, recordShape, textShape } from "@metier/base/shape";
import { forAllTenants, forTenant } from "@metier/durable";
import { SYSTEM_TENANT } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";

const KIND = "forgotten";
const PURPOSE = "forgotten-user";
const LOOK_MS = 5_000;
/** A machine that was off for longer keeps what it has. */
const KEPT_MS = 90 * 86_400_000;
const MOST_NOTED_BYTES = 4 * 1024 * 1024;

interface Forgotten {
  readonly tenant: string;
  /** Absent: the whole tenant. */
  readonly user?: string | undefined;
}

const forgottenShape = recordShape<Forgotten>({ tenant: textShape, user: textShape }, ["user"]);

/** If called again, the machines forget it twice. */
export async function tellMachines(
  { records, tenantKeys, forget }: ServiceContext,
  { tenant, userId }: { readonly tenant: string; readonly userId?: string | undefined },
): Promise<void> {
  if (forget.notes === undefined) return; // This machine is the only one.
  const user =
    userId === undefined
      ? undefined
      : (await tenantKeys.of(tenant)).seal({ tenant, purpose: PURPOSE }, userId);
  const key = { tenant: SYSTEM_TENANT, kind: KIND, id: randomUUID() };
  await forAllTenants(() => records.put(key, presentFields({ tenant, user }), 0));
}

interface Forgetting {
  /** Resolves when the check in progress has ended. */
  stop(): Promise<void>;
}

/** `undefined`: there are no other machines. */
export function startForgetting(context: ServiceContext): Forgetting | undefined {
  const { log, forget } = context;
  const { notes: file } = forget;
  if (file === undefined) return undefined;
  let current = Promise.resolve();
  const look = (): void => {
    current = current.then(() => forgetNew(context, file)).catch((fault) => log.fault("forgetting", fault));
  };
  look();
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await current;
    },
  };
}

async function forgetNew(context: ServiceContext, file: string): Promise<void> {
  const { records, now } = context;
  const stored = await forAllTenants(() => records.listAll(KIND));
  const noted = readNoted(file);
  const isNew = stored.filter(({ id }) => !noted.has(id));
  const told = isNew.flatMap(({ body }) => fitShape(forgottenShape, body) ?? []);
  const gone = new Set(told.filter(({ user }) => user === undefined).map(({ tenant }) => tenant));
  for (const tenant of gone) await forTenant(tenant, () => context.forget.tenant(tenant));
  // A deleted tenant has no users left, nor the key that opens their names.
  for (const { tenant, user = "" } of told) if (!gone.has(tenant)) await forgetUser(context, tenant, user);
  // Recorded afterwards: a machine killed in between forgets it again.
  if (isNew.length > 0)
    writeAtomic(
      file,
      stored.map(({ id }) => `${id}\n`),
    );
  for (const record of stored) {
    if (now() - record.createdAt > KEPT_MS) await forAllTenants(() => records.delete(record));
  }
}

async function forgetUser(
  { forget, tenantKeys, log }: ServiceContext,
  tenant: string,
  sealed: string,
): Promise<void> {
  await forTenant(tenant, async () => {
    const opened = (await tenantKeys.of(tenant)).unseal({ tenant, purpose: PURPOSE }, sealed);
    if (opened.ok) await forget.user(tenant, opened.value);
    else log.fault("forgetting", new Error(opened.refusal.message));
  });
}

/** If the note is unreadable, everything is forgotten again. */
function readNoted(file: string): ReadonlySet<string> {
  const read = readBounded(file, MOST_NOTED_BYTES);
  return new Set(read.ok ? read.text.split("\n") : []);
}
