/**
 * `metier capability`: lists and invokes capabilities, and maps a failed call to an exit code. Changes are confirmed
 * only in the terminal. Account actions load separately, since few commands need them.
 */
import { CancelledError, EXIT, type ExitCode, UsageError } from "@metier/base/errors";
import { isJsonObject, type JsonObject, presentFields } from "@metier/base/json";
import { safeLine } from "@metier/base/text";
import type {
  Answer,
  CapabilityCode,
  CapabilityFault,
  CapabilityListing,
  ConfirmMutation,
} from "@metier/capabilities";
import type { Caller } from "@metier/run";
import type { Metier } from "@metier/runtime";
import type { CapabilityFlags } from "../commands/connecting.ts";
import type { Action } from "../commands/define.ts";
import {
  type CliContext,
  endWith,
  err,
  listenTwice,
  outJson,
  readPiped,
  reply,
  requireAction,
  untilInterrupted,
} from "../context.ts";
import { openMetier, readCaller, workingDirectory } from "../open-metier.ts";
import { answerText, capabilitiesText, faultText, providersText } from "../output/capabilities-text.ts";
import { styleFor } from "../output/style.ts";
import { confirmInTerminal, parseInput, readInputFlag } from "./run-request.ts";

type CapabilityAction = (request: ActionRequest) => Promise<void>;

/** Signing in needs a server for the browser; nothing else does. */
function accountAction(name: keyof typeof import("./capability-auth.ts")): CapabilityAction {
  return async (request) => (await import("./capability-auth.ts"))[name](request);
}

const ACTIONS: Readonly<Record<string, { readonly usage: string; readonly run: CapabilityAction }>> = {
  list: { usage: "list", run: listCapabilities },
  providers: { usage: "providers", run: listProviders },
  invoke: { usage: "invoke ID OPERATION", run: invoke },
  "auth begin": { usage: "auth begin ID", run: accountAction("authBeginAction") },
  "auth list": { usage: "auth list", run: accountAction("authListAction") },
  "auth complete": { usage: "auth complete FLOW", run: accountAction("authCompleteAction") },
  "auth poll": { usage: "auth poll FLOW", run: accountAction("authPollAction") },
  "auth unlink": { usage: "auth unlink ID", run: accountAction("authUnlinkAction") },
};

export const capabilityAction: Action<CapabilityFlags> = async (context, flags, ...given) => {
  const [first = "list", second = "", ...more] = given;
  const [name, words] = first === "auth" ? [`auth ${second}`.trim(), more] : [first, given.slice(1)];
  const usages = Object.values(ACTIONS).map(({ usage }) => usage);
  const { run } = requireAction("capability", ACTIONS, name, usages.join(", "));
  const metier = await openMetier(context, flags);
  try {
    await run({ context, flags, metier, caller: readCaller(flags), words });
  } finally {
    await metier.capabilities.close();
  }
};

/** Passed to every action. */
export interface ActionRequest {
  readonly context: CliContext;
  readonly flags: CapabilityFlags;
  readonly metier: Metier;
  readonly caller: Caller;
  /** The words after the action's name. */
  readonly words: readonly string[];
}

/** Takes exactly as many words as options left open, and returns all values. */
export function takeWords<const Given extends readonly (string | undefined)[]>(
  usage: string,
  words: readonly string[],
  given: Given,
): { readonly [Index in keyof Given]: string } {
  const left = [...words];
  const taken = given.map((value) => value ?? left.shift() ?? "");
  if (left.length > 0 || taken.some((value) => value.trim() === "")) {
    throw new UsageError(`Usage: \`metier capability ${usage}\`.`, {
      hint: "`metier capability` lists ids and operations, `metier capability auth list` sign-ins.",
    });
  }
  return taken as { readonly [Index in keyof Given]: string };
}

async function invoke(request: ActionRequest): Promise<void> {
  const { context, flags, metier, caller, words } = request;
  const { account, idempotencyKey } = flags;
  const usage = "invoke ID OPERATION [--input JSON]";
  const [capability, operation] = takeWords(usage, words, [flags.capability, flags.operation]);
  const input = await readObject(context, flags);
  const stop = new AbortController();
  const { release } = listenTwice(context.io, () => stop.abort(new CancelledError("Cancelled.")));
  const confirm = context.io.interactive && !flags.json ? askOrStop(context, stop) : undefined;
  const answered = await metier.capabilities
    .invoke(
      { capability, operation, ...presentFields({ input, account, idempotencyKey }) },
      { caller, signal: stop.signal, ...presentFields({ confirm }) },
    )
    .finally(release);
  tellAnswer(request, answered, answerText);
}

/** Ctrl-C at the question cancels the call, not only the question. */
function askOrStop({ io }: CliContext, stop: AbortController): ConfirmMutation {
  const ask = confirmInTerminal(io);
  return async (plan, signal) => {
    try {
      return await ask(plan, signal);
    } catch (fault) {
      if (fault instanceof CancelledError) stop.abort(fault);
      throw fault;
    }
  };
}

async function readObject(context: CliContext, flags: CapabilityFlags): Promise<JsonObject | undefined> {
  if (flags.input === undefined) return undefined;
  const input =
    flags.input === "-"
      ? parseInput(await readPiped(context, "--input -"))
      : readInputFlag(flags.input, workingDirectory(context, flags));
  if (isJsonObject(input)) return input as JsonObject;
  throw new UsageError("`--input` is not a JSON object.", {
    hint: "Pass one, such as '{\"limit\": 5}', @file, or - for stdin.",
  });
}

const NONE = `No capabilities found. \`metier capability providers\` shows the configured providers;
\`metier capability list --all\` includes capabilities that this chat can't use.`;

/** Also shown here, because a failed provider explains why capabilities are missing. */
async function listCapabilities(request: ActionRequest): Promise<void> {
  const { context, flags, metier, caller, words } = request;
  takeWords("list [--all]", words, []);
  const { capabilities } = metier;
  const [listed, providers] = await untilInterrupted(context, () =>
    Promise.all([capabilities.list(caller, { all: flags.all }), capabilities.providers()]),
  );
  const faults = providers.flatMap(({ name, fault }) => (fault ? [{ provider: name, ...fault }] : []));
  if (listed.ok && listed.value.length === 0 && !flags.json) err(context, NONE);
  const text = (found: readonly CapabilityListing[]): string =>
    capabilitiesText(found, styleFor(context.io.color));
  tellAnswer(request, listed, text, (found) => ({ capabilities: found, faults }));
  if (!listed.ok || flags.json) return;
  for (const { provider, ...fault } of faults) {
    err(context, `provider ${safeLine(provider)}: ${faultText(fault)}`);
  }
}

async function listProviders({ context, flags, metier, words }: ActionRequest): Promise<void> {
  takeWords("providers", words, []);
  const providers = await untilInterrupted(context, () => metier.capabilities.providers());
  if (providers.length === 0 && !flags.json) {
    err(
      context,
      "No provider is configured. Add `[capabilities.providers.NAME]` with a `command` to your config.",
    );
  }
  reply(context, flags, { providers }, (style) => providersText(providers, style));
}

const EXIT_OF: Readonly<Record<CapabilityCode, ExitCode>> = {
  capability_not_found: EXIT.no,
  capability_access_denied: EXIT.refused,
  capability_auth_required: EXIT.refused,
  capability_auth_flow_invalid: EXIT.no,
  capability_auth_flow_expired: EXIT.no,
  capability_auth_flow_denied: EXIT.refused,
  capability_auth_callback_invalid: EXIT.usage,
  capability_auth_code_conflict: EXIT.usage,
  capability_auth_state_mismatch: EXIT.refused,
  capability_auth_code_missing: EXIT.usage,
  capability_auth_flow_ambiguous: EXIT.usage,
  capability_account_ambiguous: EXIT.usage,
  capability_invalid_input: EXIT.usage,
  capability_invalid_output: EXIT.failed,
  capability_backend_unavailable: EXIT.failed,
  capability_mutation_not_confirmed: EXIT.refused,
  capability_confirmation_pending: EXIT.refused,
  capability_mutation_plan_mismatch: EXIT.refused,
  capability_outcome_unknown: EXIT.failed,
  capability_rate_limited: EXIT.limited,
  capability_cancelled: EXIT.cancelled,
};

export function exitForFault({ code }: Pick<CapabilityFault, "code">): ExitCode {
  return Object.hasOwn(EXIT_OF, code) ? EXIT_OF[code as CapabilityCode] : EXIT.failed;
}

/** The answer, or the fault that ends the command. `json` is the value for programs. */
export function tellAnswer<Value>(
  { context, flags }: ActionRequest,
  given: Answer<Value>,
  text: (value: Value) => string,
  json: (value: Value) => unknown = (value) => value,
): void {
  if (given.ok) reply(context, flags, json(given.value), () => text(given.value));
  else {
    endWith(context, exitForFault(given.fault));
    if (flags.json) outJson(context, { error: given.fault });
    else err(context, faultText(given.fault));
  }
}
