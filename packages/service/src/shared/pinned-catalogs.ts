/**
 * The skills a run may use, pinned when it is ordered: a list of content identities, stored once under the list's
 * digest, which the order names. Whichever machine continues the run has exactly these skills.
 */
import { createHash } from "node:crypto";
import { canonicalText, type JsonObject, presentFields } from "@metier/base/json";
import { choiceShape, fitShape, listShape, recordShape, textShape } from "@metier/base/shape";
import { dropOldest } from "@metier/base/turns";
import type { RecordStore } from "@metier/durable";
import type { PublishedContent } from "./published-skills.ts";

/** From a home, as published; or uploaded by the tenant itself, in which case the shelf knows the rest. */
export interface PinnedSkill extends Partial<Pick<PublishedContent, "snapshot" | "entry" | "form">> {
  readonly name: string;
  readonly digest: string;
  readonly origin: "home" | "upload";
  /** At the time of the order. For an upload, the shelf's current value applies instead. */
  readonly trust: "trusted" | "untrusted";
}

interface PinnedCatalog {
  readonly skills: readonly PinnedSkill[];
}

const KIND = "pinned-catalog";
/** How often to record that runs are still ordered with it. */
const RENEW_MS = 86_400_000;
const MOST_KNOWN = 1_000;

const catalogShape = recordShape<PinnedCatalog>({
  skills: listShape(
    recordShape<PinnedSkill>(
      {
        name: textShape,
        digest: textShape,
        origin: choiceShape("home", "upload"),
        trust: choiceShape("trusted", "untrusted"),
        snapshot: textShape,
        entry: textShape,
        form: choiceShape("directory", "markdown", "yaml"),
      },
      ["snapshot", "entry", "form"],
    ),
  ),
});

interface PinnedCatalogs {
  /** Returns the name under which an order pins it. */
  keep(tenant: string, skills: readonly PinnedSkill[]): Promise<string>;
  /** `undefined`: there is none with that name. */
  read(tenant: string, id: string): Promise<readonly PinnedSkill[] | undefined>;
}

interface KnownCatalog {
  readonly skills: readonly PinnedSkill[];
  /** When it was last recorded that runs are ordered with it. */
  readonly orderedAt: number;
}

/** A list never changes under its name, so the most recent ones are cached. */
export function openCatalogs(records: RecordStore, now: () => number): PinnedCatalogs {
  const known = new Map<string, KnownCatalog>();
  const remember = (name: string, catalog: KnownCatalog): void => {
    known.delete(name);
    known.set(name, catalog);
    dropOldest(known, MOST_KNOWN);
  };
  return {
    async keep(tenant, skills) {
      const body = { skills: skills.map((skill): JsonObject => presentFields({ ...skill })) };
      const id = createHash("sha256").update(canonicalText(body)).digest("hex");
      const name = nameOf(tenant, id);
      const isRecent = (orderedAt = 0): boolean => now() - orderedAt < RENEW_MS;
      if (isRecent(known.get(name)?.orderedAt)) return id;
      const key = { tenant, kind: KIND, id };
      let stored = await records.get(key);
      while (stored === undefined || !isRecent(stored.updatedAt)) {
        stored = (await records.put(key, body, stored?.revision ?? 0)) ?? (await records.get(key));
      }
      remember(name, { skills, orderedAt: stored.updatedAt });
      return id;
    },
    async read(tenant, id) {
      const before = known.get(nameOf(tenant, id));
      if (before !== undefined) return before.skills;
      const stored = await records.get({ tenant, kind: KIND, id });
      const skills = stored && fitShape(catalogShape, stored.body)?.skills;
      if (stored && skills) remember(nameOf(tenant, id), { skills, orderedAt: stored.updatedAt });
      return skills;
    },
  };
}

function nameOf(tenant: string, id: string): string {
  return JSON.stringify([tenant, id]);
}

/** For all tenants. */
export async function listCatalogs(records: RecordStore): Promise<readonly KeptCatalog[]> {
  const stored = await records.listAll(KIND);
  return stored.map(({ tenant, id, body, updatedAt }) => {
    const skills = fitShape(catalogShape, body)?.skills ?? [];
    return { tenant, id, orderedAt: updatedAt, snapshots: skills.flatMap(({ snapshot }) => snapshot ?? []) };
  });
}

interface KeptCatalog {
  readonly tenant: string;
  readonly id: string;
  readonly orderedAt: number;
  /** Contents from homes. */
  readonly snapshots: readonly string[];
}

export async function forgetCatalog(
  records: RecordStore,
  { tenant, id }: Pick<KeptCatalog, "tenant" | "id">,
): Promise<void> {
  await records.delete({ tenant, kind: KIND, id });
}
