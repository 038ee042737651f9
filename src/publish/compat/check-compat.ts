/** `metier compat`: for each known client, which fields of a skill it honours, which it ignores, and what breaks there. */
import type { SkillCandidate } from "../../skill/skill.ts";
import { checkBody } from "./bodies.ts";
import { COMPAT_CLIENTS, type CompatClient } from "./compat-clients.ts";
import { breaks, type CompatSubject, type Remark, readSubject } from "./compat-subject.ts";
import { checkDescription } from "./descriptions.ts";
import { checkFields, isHonoured } from "./fields.ts";
import { checkFile } from "./file-forms.ts";
import { checkFolder } from "./folders.ts";
import { checkName } from "./names.ts";
import { checkTypes } from "./tools-and-types.ts";

export interface ClientReport {
  /** As `--client` takes it. */
  readonly client: string;
  readonly name: string;
  /** The version or day that the facts were seen in. */
  readonly seen: string;
  readonly basis: CompatClient["basis"];
  /** Few use it: the report as a whole heeds it only when it was asked about by name. */
  readonly isRare: boolean;
  /** Nothing breaks. */
  readonly works: boolean;
  /** Keys as written. */
  readonly honoured: readonly string[];
  readonly ignored: readonly string[];
  readonly breaks: readonly CompatRemark[];
  /** What is worth knowing although it works. */
  readonly notes: readonly CompatRemark[];
}

export interface CompatRemark {
  /** A key as written, or `file`, `folder`, `body`. */
  readonly about: string;
  readonly message: string;
}

export interface SkillCompatibility {
  readonly name: string;
  /** The skill file. */
  readonly path: string;
  readonly clients: readonly ClientReport[];
}

type Concern = (subject: CompatSubject, client: CompatClient["id"]) => readonly Remark[];

const CONCERNS: readonly Concern[] = [
  checkFile,
  checkFields,
  checkName,
  checkDescription,
  checkTypes,
  checkBody,
  checkFolder,
];

export async function checkCompat(
  candidate: SkillCandidate,
  clients: readonly CompatClient[] = COMPAT_CLIENTS,
): Promise<SkillCompatibility> {
  const read = await readSubject(candidate);
  const path = candidate.file;
  if (!read.ok) {
    const unread = [breaks("file", read.message)];
    return {
      name: candidate.defaultName,
      path,
      clients: clients.map((client) => describe(client, [], unread)),
    };
  }
  const { subject } = read;
  const name = subject.manifest?.name ?? candidate.defaultName;
  const keys = Object.keys(subject.fields);
  return {
    name,
    path,
    clients: clients.map((client) =>
      describe(
        client,
        keys,
        CONCERNS.flatMap((check) => check(subject, client.id)),
      ),
    ),
  };
}

function describe(client: CompatClient, keys: readonly string[], remarks: readonly Remark[]): ClientReport {
  const { id, name, seen, basis, isRare = false } = client;
  const pick = (effect: Remark["effect"]): readonly CompatRemark[] =>
    remarks.filter((remark) => remark.effect === effect).map(({ about, message }) => ({ about, message }));
  const broken = pick("breaks");
  const isBroken = (key: string): boolean => broken.some(({ about }) => about === key);
  const sound = keys.filter((key) => !isBroken(key));
  return {
    client: id,
    name,
    seen,
    basis,
    isRare,
    works: broken.length === 0,
    honoured: sound.filter((key) => isHonoured(id, key)),
    ignored: sound.filter((key) => !isHonoured(id, key)),
    breaks: broken,
    notes: pick("note"),
  };
}
