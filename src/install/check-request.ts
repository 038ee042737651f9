/** Whether a request can be meant at all, before anything is fetched. */
import { isLockName } from "../lock/lock-fields.ts";
import { MAX_NAME_LENGTH } from "../skill/skill-name.ts";
import { explainClients, findClient } from "./clients.ts";
import { type FaultOutcome, faulty } from "./install-fault.ts";
import type { InstallRequest } from "./install-request.ts";

interface Rule {
  isBroken(request: InstallRequest): boolean;
  readonly message: string;
  readonly hint: string;
}

const RULES: readonly Rule[] = [
  {
    isBroken: ({ copy, project, agents }) => copy === true && !project && !agents?.length,
    message:
      "`--copy` puts copies into the project or into folders of other clients, and neither is asked for.",
    hint: "Add `--project` or `--agent`, or leave out `--copy`: contents are kept in your store anyway.",
  },
  {
    isBroken: ({ copy, link }) => copy === true && link === true,
    message: "`--copy` and `--link` exclude each other.",
    hint: "Leave out one of them.",
  },
  {
    isBroken: ({ frozen, source }) => frozen === true && source !== undefined,
    message: "`--frozen` restores what the lock lists, so it goes without a source.",
    hint: "Leave out the source, or `--frozen`.",
  },
  {
    isBroken: ({ source, ref, skills, name, link, copy, agents }) =>
      source === undefined &&
      [ref, skills, name, link, copy, agents].some((option) => option !== undefined && option !== false),
    message:
      "`--ref`, `--skill`, `--all`, `--name`, `--link`, `--copy` and `--agent` are about a source, and none is given.",
    hint: "Name a source, as in `metier install owner/repo --skill pdf`; without one the lock is restored.",
  },
];

export function checkRequest(request: InstallRequest): FaultOutcome | undefined {
  const broken = RULES.find((rule) => rule.isBroken(request));
  if (broken) return faulty("install.usage", broken.message, broken.hint);
  const { name, agents = [] } = request;
  const unknown = agents.find((id) => findClient(id) === undefined);
  if (unknown !== undefined) {
    const message = `${JSON.stringify(unknown)} is no client that Metier knows.`;
    return faulty("install.usage", message, explainClients(unknown));
  }
  if (name === undefined || isLockName(name)) return undefined;
  return faulty(
    "install.usage",
    `${JSON.stringify(name)} cannot be the name of a skill.`,
    `Use lower-case letters, digits and single hyphens, at most ${MAX_NAME_LENGTH} characters.`,
  );
}
