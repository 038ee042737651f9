/** `metier capability auth …`: accounts are linked in two commands, or in one that waits. */
import { setTimeout as sleep } from "node:timers/promises";
import { openCallbackListener } from "../../capabilities/auth/callback-listener.ts";
import type { AuthFlow, CompletedAuth, PolledAuth } from "../../capabilities/capability-broker.ts";
import { type Answer, done } from "../../capabilities/capability-fault.ts";
import { UsageError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import { readCaller } from "../caller-flags.ts";
import { endWith, err, out, outJson } from "../context.ts";
import {
  completedText,
  flowsText,
  flowText,
  pendingText,
  unlinkedText,
} from "../output/capabilities-text.ts";
import { readPiped } from "../read-piped.ts";
import { type ActionRequest, takeWords, untilInterrupted } from "./capability-action.ts";
import { reportCapabilityFault } from "./report-fault.ts";

export async function beginAuth(request: ActionRequest): Promise<void> {
  const { context, flags, words } = request;
  const [capability] = takeWords("auth begin ID [--account A] [--listen]", words, [flags.capability]);
  if (flags.listen) {
    tell(request, await untilInterrupted(context, (signal) => signInHere(request, capability, signal)));
    return;
  }
  const begun = await untilInterrupted(context, () => begin(request, capability));
  if (!begun.ok) reportCapabilityFault(context, flags, begun.fault);
  else if (flags.json) outJson(context, begun.value);
  else out(context, flowText(begun.value));
}

function begin(
  { flags, metier }: ActionRequest,
  capability: string,
  redirectUri?: string,
): Promise<Answer<AuthFlow>> {
  const { account } = flags;
  return metier.capabilities.auth.begin(
    {
      capability,
      ...(account !== undefined && { account }),
      ...(redirectUri !== undefined && { redirectUri }),
    },
    { caller: readCaller(flags) },
  );
}

/** The whole sign-in in one command: the browser comes back here, or the provider is asked until it is done. */
async function signInHere(
  request: ActionRequest,
  capability: string,
  signal: AbortSignal,
): Promise<Answer<CompletedAuth>> {
  const { context, flags, metier } = request;
  const listener = await openCallbackListener();
  try {
    const begun = await begin(request, capability, listener.redirectUri);
    if (!begun.ok) return begun;
    const flow = begun.value;
    (flags.json ? err : out)(context, flowText(flow));
    err(context, "Waiting until it is done; after Ctrl-C, the command after `then` finishes it.");
    if (flow.flowType === "device_code") return await pollUntilDone(request, flow.flowId, signal);
    const caller = { caller: readCaller(flags) };
    const complete = (callbackUrl: string): Promise<Answer<CompletedAuth>> =>
      metier.capabilities.auth.complete({ flowId: flow.flowId, callbackUrl, isFromBrowser: true }, caller);
    return await listener.complete(flow, complete, signal);
  } finally {
    await listener.close();
  }
}

export async function listFlows({ context, flags, metier, words }: ActionRequest): Promise<void> {
  const { account } = flags;
  const [capability] =
    words.length === 0 ? [flags.capability] : takeWords("auth list [ID]", words, [flags.capability]);
  const filter = {
    ...(capability !== undefined && { capability }),
    ...(account !== undefined && { account }),
  };
  const listed = await untilInterrupted(context, () =>
    metier.capabilities.auth.list(filter, { caller: readCaller(flags) }),
  );
  if (!listed.ok) reportCapabilityFault(context, flags, listed.fault);
  else if (flags.json) outJson(context, { flows: listed.value });
  else out(context, flowsText(listed.value));
}

/** By its flow, or by the `state` of the address alone. */
export async function completeAuth(request: ActionRequest): Promise<void> {
  const { context, flags, metier, words } = request;
  const { auth } = metier.capabilities;
  const caller = { caller: readCaller(flags) };
  const { callbackUrl } = flags;
  if (words.length === 0 && callbackUrl !== undefined && flags.code === undefined) {
    tell(request, await untilInterrupted(context, () => auth.completeCallback(callbackUrl, caller)));
    return;
  }
  const usage = "auth complete FLOW [--code CODE | --callback-url URL]";
  const [flowId] = takeWords(usage, words, [undefined]);
  const given = await readAnswer(request);
  tell(request, await untilInterrupted(context, () => auth.complete({ flowId, ...given }, caller)));
}

/** Asked for where there is a person to ask: what stands in a command line is kept by shells. */
async function readAnswer({
  context,
  flags,
}: ActionRequest): Promise<{ readonly code?: string; readonly callbackUrl?: string }> {
  const { callbackUrl, code } = flags;
  if (code !== undefined || callbackUrl !== undefined) {
    return {
      ...(callbackUrl !== undefined && { callbackUrl }),
      ...(code !== undefined && { code: code === "-" ? await readPiped(context, "--code") : code }),
    };
  }
  if (!context.io.interactive || flags.json) {
    throw new UsageError("The answer of the sign-in is missing, and there is nobody to ask.", {
      hint: "Give `--callback-url URL`, `--code CODE`, or `--code -` and pipe it in.",
    });
  }
  return { code: await context.io.ask("Paste the code, or the address that the browser was sent to: ") };
}

function tell(request: ActionRequest, answer: Answer<CompletedAuth>): void {
  if (!answer.ok) reportCapabilityFault(request.context, request.flags, answer.fault);
  else tellCompleted(request, answer.value);
}

export async function pollAuth(request: ActionRequest): Promise<void> {
  const { context, flags, words } = request;
  const [flowId] = takeWords("auth poll FLOW [--wait]", words, [undefined]);
  const polled = await untilInterrupted(context, (signal) =>
    flags.wait ? pollUntilDone(request, flowId, signal) : poll(request, flowId),
  );
  if (!polled.ok) reportCapabilityFault(context, flags, polled.fault);
  else if (polled.value.status === "complete") tellCompleted(request, polled.value);
  else {
    endWith(context, EXIT.no);
    if (flags.json) outJson(context, polled.value);
    else out(context, pendingText(flowId, polled.value.retryAfterSeconds));
  }
}

function poll({ flags, metier }: ActionRequest, flowId: string): Promise<Answer<PolledAuth>> {
  return metier.capabilities.auth.poll(flowId, { caller: readCaller(flags) });
}

/** As often as the provider wants to be asked; a sign-in that has expired is a fault and ends it. */
async function pollUntilDone(
  request: ActionRequest,
  flowId: string,
  signal: AbortSignal,
): Promise<Answer<CompletedAuth & PolledAuth>> {
  for (;;) {
    const polled = await poll(request, flowId);
    if (!polled.ok) return polled;
    if (polled.value.status === "complete") return done(polled.value);
    await sleep(polled.value.retryAfterSeconds * 1000, undefined, { signal });
  }
}

export async function unlinkAccount({ context, flags, metier, words }: ActionRequest): Promise<void> {
  const { account } = flags;
  const [capability] = takeWords("auth unlink ID [--account A]", words, [flags.capability]);
  const unlinked = await untilInterrupted(context, () =>
    metier.capabilities.auth.unlink(
      { capability, ...(account !== undefined && { account }) },
      { caller: readCaller(flags) },
    ),
  );
  if (!unlinked.ok) reportCapabilityFault(context, flags, unlinked.fault);
  else if (flags.json) outJson(context, { capability, account: unlinked.value.account });
  else out(context, unlinkedText(capability, unlinked.value.account));
}

function tellCompleted({ context, flags }: ActionRequest, completed: CompletedAuth): void {
  if (flags.json) outJson(context, completed);
  else out(context, completedText(completed));
}
