/** What is asked of the capabilities before a run begins: whether it may, and what its user should know. */
import type { CapabilityBroker } from "../capabilities/capability-broker.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { toCapabilityCaller } from "../invoke/capability-caller.ts";
import type { CapabilityAnswer, InvocationHost } from "../invoke/checks/check.ts";
import type { Caller, Refusal } from "../invoke/invocation.ts";
import { pathOf } from "../invoke/report-fields.ts";
import { seenCapabilitySocket } from "../sandbox/capability-socket.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Skill } from "../skill/skill.ts";
import { showNames } from "../validate/report.ts";
import type { RunCapabilities } from "./run-capabilities.ts";

/** For the checks: not registered and not for this chat are reasons to refuse. */
export function createPreflight(capabilities: RunCapabilities): NonNullable<InvocationHost["capabilities"]> {
  return async (ids, caller) => {
    const answer = await askBroker(capabilities, caller, (broker, known) => broker.preflight(ids, known));
    if (!answer.ok) return { ...answer.cause, data: { capabilities: ids } };
    const fault = answer.value;
    return (
      fault && {
        message: fault.message,
        hint: fault.hint ?? "`metier capability list --all` says what there is, and for which chats.",
        data: { capabilities: ids, code: fault.code },
      }
    );
  };
}

/** A sign-in that is missing is said and refuses nothing: the skill is what asks the user for it. */
export async function reportUnlinked(
  skill: Skill,
  capabilities: RunCapabilities | undefined,
  caller: Caller | undefined,
): Promise<readonly Diagnostic[]> {
  const ids = skill.manifest.capabilities;
  if (ids.length === 0 || capabilities === undefined) return [];
  const answer = await askBroker(capabilities, caller, (broker, known) =>
    broker.list({ ...known, declared: ids }),
  );
  const listed = (answer.ok && answer.value) || [];
  const unlinked = listed
    .filter(({ requiresAuth, authenticated }) => requiresAuth && !authenticated)
    .map(({ id }) => id);
  if (unlinked.length === 0) return [];
  return [
    {
      code: "capability.unlinked",
      severity: "info",
      path: pathOf(skill),
      message: `\`${skill.name}\` uses ${showNames(unlinked)}, for which no account is linked yet: it will ask for a sign-in.`,
      hint: `\`metier capability auth begin ${unlinked[0]}\` links one beforehand.`,
    },
  ];
}

/** Capabilities are called by commands: where none of those reaches the host, the skill cannot do what it is for. */
export function refuseWithoutSocket(skill: Skill, sandbox: Sandbox | undefined): Refusal | undefined {
  const ids = skill.manifest.capabilities;
  if (ids.length === 0) return undefined;
  if (sandbox?.runsPrograms && seenCapabilitySocket(sandbox.backend, "") !== undefined) return undefined;
  const why = sandbox
    ? `commands of the sandbox backend \`${sandbox.backend}\` do not reach the host`
    : "no sandbox works here, so no command is run";
  return {
    reason: "capabilities",
    skill: skill.name,
    message: `Skill \`${skill.name}\` needs ${showNames(ids)}, which are called by commands, and ${why}.`,
    hint: "Use the backend `bubblewrap` (`[sandbox] backend` in your config); `metier doctor` says whether it works.",
    data: { capabilities: ids, backend: sandbox?.backend ?? "absent" },
    also: [],
  };
}

type Asked<Value> =
  | { readonly ok: true; readonly value: Value | undefined }
  | { readonly ok: false; readonly cause: Pick<NonNullable<CapabilityAnswer>, "message" | "hint"> };

/** What the broker cannot read is a reason like any other, not the end of the program. */
async function askBroker<Value>(
  { broker }: RunCapabilities,
  caller: Caller | undefined,
  ask: (
    broker: CapabilityBroker,
    known: NonNullable<ReturnType<typeof toCapabilityCaller>>,
  ) => Promise<Value>,
): Promise<Asked<Value>> {
  const known = toCapabilityCaller(caller);
  if (known === undefined) return { ok: true, value: undefined };
  try {
    return { ok: true, value: await ask(await broker(), known) };
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message : String(fault);
    const message = `The capabilities cannot be asked: ${reason}`;
    return { ok: false, cause: { message, hint: "`metier doctor` says what is wrong with them." } };
  }
}
