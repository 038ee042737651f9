/**
 * People in the audit log. A line can never be changed, so it has a random pseudonym instead of a name; two records say
 * which person that is, and are deleted with the person. What remains then leads to nobody.
 */
import { createHash, randomBytes } from "node:crypto";
import { isJsonObject, type Json } from "@metier/base/json";
import { fitShape, flagShape, recordShape, textShape } from "@metier/base/shape";
import { forTenant, type RecordStore, type StoredRecord } from "@metier/durable";
import { findRecords } from "./find-records.ts";

/** By the digest of a user id: its pseudonym. */
const PERSON = "person";
/** By a pseudonym: the user id. */
const PSEUDONYM = "pseudonym";
const PATTERN = /p_[0-9a-f]{16}/g;

interface PersonBody {
  readonly pseudonym: string;
  /** All their data is being removed. */
  readonly isLeaving?: boolean | undefined;
}

const personShape = recordShape<PersonBody>({ pseudonym: textShape, isLeaving: flagShape }, ["isLeaving"]);
const nameShape = recordShape<{ readonly userId: string }>({ userId: textShape });

interface Person {
  readonly pseudonym: string;
  /** All their data is being removed: nothing new is done for them. */
  readonly isLeaving: boolean;
}

export interface Pseudonyms {
  /** The person, added if new. */
  meet(tenant: string, userId: string): Promise<Person>;
  /** `undefined`: nobody with this id was ever here, or they were deleted. */
  find(tenant: string, userId: string): Promise<Person | undefined>;
  /** From now on they are leaving. Someone who has already left stays unknown. */
  dismiss(tenant: string, userId: string): Promise<void>;
  /** Nobody can tell anymore who a pseudonym was. */
  forget(tenant: string, userId: string): Promise<void>;
  /** The same with names instead of known pseudonyms. */
  show<Value extends Json>(tenant: string, value: Value): Promise<Value>;
}

export function openPseudonyms(records: RecordStore): Pseudonyms {
  const read = (stored: StoredRecord | undefined): Person | undefined => {
    const body = stored && fitShape(personShape, stored.body);
    return body && { pseudonym: body.pseudonym, isLeaving: body.isLeaving === true };
  };
  const nameOf = async (tenant: string, pseudonym: string): Promise<string | undefined> => {
    const stored = await records.get({ tenant, kind: PSEUDONYM, id: pseudonym });
    return stored && fitShape(nameShape, stored.body)?.userId;
  };
  const find: Pseudonyms["find"] = (tenant, userId) =>
    forTenant(tenant, async () => read(await records.get(personKey(tenant, userId))));
  const meet: Pseudonyms["meet"] = async (tenant, userId) =>
    (await find(tenant, userId)) ?? (await forTenant(tenant, () => makePerson(records, tenant, userId)));
  return {
    find,
    meet,
    dismiss: (tenant, userId) =>
      forTenant(tenant, async () => {
        for (;;) {
          const stored = await records.get(personKey(tenant, userId));
          if (stored === undefined || stored.body.isLeaving === true) return;
          if (await records.put(stored, { ...stored.body, isLeaving: true }, stored.revision)) return;
        }
      }),
    forget: (tenant, userId) => forTenant(tenant, () => forgetPerson(records, tenant, userId)),
    async show(tenant, value) {
      const found = new Set(JSON.stringify(value)?.match(PATTERN));
      const names = new Map<string, string>();
      for (const pseudonym of found) {
        const name = await forTenant(tenant, () => nameOf(tenant, pseudonym));
        if (name !== undefined) names.set(pseudonym, name);
      }
      return (names.size === 0 ? value : replaceIn(value, names)) as typeof value;
    },
  };
}

/** The way back is stored first: every pseudonym in the audit log can be resolved. */
async function makePerson(records: RecordStore, tenant: string, userId: string): Promise<Person> {
  const pseudonym = `p_${randomBytes(8).toString("hex")}`;
  const wayBack = { tenant, kind: PSEUDONYM, id: pseudonym };
  await records.put(wayBack, { userId }, 0);
  if (await records.put(personKey(tenant, userId), { pseudonym }, 0)) return { pseudonym, isLeaving: false };
  await records.delete(wayBack); // Someone else added them at the same time.
  const stored = await records.get(personKey(tenant, userId));
  const body = stored && fitShape(personShape, stored.body);
  if (body === undefined) return makePerson(records, tenant, userId);
  return { pseudonym: body.pseudonym, isLeaving: body.isLeaving === true };
}

/** All pseudonyms are checked: a killed process may have left one that nothing leads to. */
async function forgetPerson(records: RecordStore, tenant: string, userId: string): Promise<void> {
  const isOwn = ({ body }: StoredRecord): boolean => body.userId === userId;
  const own = await findRecords(records, { tenant, kind: PSEUDONYM }, isOwn);
  for (const stored of own) await records.delete(stored);
  await records.delete(personKey(tenant, userId));
}

function personKey(tenant: string, userId: string) {
  return { tenant, kind: PERSON, id: createHash("sha256").update(userId).digest("hex") };
}

function replaceIn(value: Json, names: ReadonlyMap<string, string>): Json {
  if (typeof value === "string") return value.replace(PATTERN, (text) => names.get(text) ?? text);
  if (Array.isArray(value)) return value.map((item: Json) => replaceIn(item, names));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, replaceIn(item as Json, names)]),
  );
}
