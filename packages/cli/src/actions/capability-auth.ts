/** `metier capability auth …`: links accounts in two commands, or in one that waits. */
import { setTimeout as sleep } from "node:timers/promises";
import { EXIT, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import {
  type Answer,
  type AuthFlow,
  answerWith,
  type CompletedAuth,
  type PolledAuth,
} from "@metier/capabilities";
import { openCallbackListener } from "@metier/capabilities/broker";
import { endWith, err, out, readPiped, untilInterrupted } from "../context.ts";
import {
  completedText,
  flowsText,
  flowText,
  pendingText,
  unlinkedText,
} from "../output/capabilities-text.ts";
import { type ActionRequest, takeWords, tellAnswer } from "./capability.ts";

export async function authBeginAction(request: ActionRequest): Promise<void> {
  const { context, flags, words } = request;
  const [capability] = takeWords("auth begin ID [--account A] [--listen]", words, [flags.capability]);
  if (flags.listen) {
    const done = await untilInterrupted(context, (signal) => signInHere(request, capability, signal));
    tellAnswer(request, done, completedText);
  } else tellAnswer(request, await untilInterrupted(context, () => begin(request, capability)), flowText);
}

function begin(
  { flags: { account }, metier, caller }: ActionRequest,
  capability: string,
  redirectUri?: string,
): Promise<Answer<AuthFlow>> {
  const wish = { capability, ...presentFields({ account, redirectUri }) };
  return metier.capabilities.auth.begin(wish, { caller });
}

/** The whole sign-in in one command: waits for the browser to come back, or polls the provider until it is done. */
async function signInHere(
  request: ActionRequest,
  capability: string,
  signal: AbortSignal,
): Promise<Answer<CompletedAuth>> {
  const { context, flags, metier, caller } = request;
  const listener = await openCallbackListener();
  try {
    const begun = await begin(request, capability, listener.redirectUri);
    if (!begun.ok) return begun;
    const flow = begun.value;
    (flags.json ? err : out)(context, flowText(flow));
    err(context, "Waiting for the sign-in. If you press Ctrl-C, finish it with the command after `then`.");
    if (flow.flowType === "device_code") return await pollUntilDone(request, flow.flowId, signal);
    const complete = (callbackUrl: string): Promise<Answer<CompletedAuth>> =>
      metier.capabilities.auth.complete(
        { flowId: flow.flowId, callbackUrl, isFromBrowser: true },
        { caller },
      );
    return await listener.complete(flow, complete, signal);
  } finally {
    await listener.close();
  }
}

export async function authListAction(request: ActionRequest): Promise<void> {
  const { context, flags, metier, caller, words } = request;
  const [capability] =
    words.length === 0 ? [flags.capability] : takeWords("auth list [ID]", words, [flags.capability]);
  const filter = presentFields({ capability, account: flags.account });
  const listed = await untilInterrupted(context, () => metier.capabilities.auth.list(filter, { caller }));
  tellAnswer(request, listed, flowsText, (flows) => ({ flows }));
}

/** Finds the sign-in by its flow id, or by the `state` in the address. */
export async function authCompleteAction(request: ActionRequest): Promise<void> {
  const { context, flags, metier, caller, words } = request;
  const { auth } = metier.capabilities;
  const { callbackUrl } = flags;
  if (words.length === 0 && callbackUrl !== undefined && flags.code === undefined) {
    const done = await untilInterrupted(context, () => auth.completeCallback(callbackUrl, { caller }));
    return tellAnswer(request, done, completedText);
  }
  const usage = "auth complete FLOW [--code CODE | --callback-url URL]";
  const [flowId] = takeWords(usage, words, [undefined]);
  const given = await readAnswer(request);
  const done = await untilInterrupted(context, () => auth.complete({ flowId, ...given }, { caller }));
  tellAnswer(request, done, completedText);
}

/** Asks in a terminal, because shells keep what is typed on a command line. */
async function readAnswer({
  context,
  flags,
}: ActionRequest): Promise<{ readonly code?: string; readonly callbackUrl?: string }> {
  const { callbackUrl, code } = flags;
  if (code !== undefined || callbackUrl !== undefined) {
    return presentFields({ callbackUrl, code: code === "-" ? await readPiped(context, "--code -") : code });
  }
  if (!context.io.interactive || flags.json) {
    throw new UsageError("The sign-in code is missing, and there is no terminal to ask in.", {
      hint: "Pass `--callback-url URL`, `--code CODE`, or `--code -` and pipe it in.",
    });
  }
  return { code: await context.io.ask("Paste the code, or the address the browser was sent to: ") };
}

export async function authPollAction(request: ActionRequest): Promise<void> {
  const { context, flags, words } = request;
  const [flowId] = takeWords("auth poll FLOW [--wait]", words, [undefined]);
  const polled = await untilInterrupted(context, (signal) =>
    flags.wait ? pollUntilDone(request, flowId, signal) : poll(request, flowId),
  );
  if (polled.ok && polled.value.status !== "complete") endWith(context, EXIT.no);
  tellAnswer(request, polled, (value) =>
    value.status === "complete" ? completedText(value) : pendingText(flowId, value.retryAfterSeconds),
  );
}

function poll({ metier, caller }: ActionRequest, flowId: string): Promise<Answer<PolledAuth>> {
  return metier.capabilities.auth.poll(flowId, { caller });
}

/** Polls as often as the provider allows; an expired sign-in is a fault and ends the wait. */
async function pollUntilDone(
  request: ActionRequest,
  flowId: string,
  signal: AbortSignal,
): Promise<Answer<CompletedAuth & PolledAuth>> {
  for (;;) {
    const polled = await poll(request, flowId);
    if (!polled.ok) return polled;
    if (polled.value.status === "complete") return answerWith(polled.value);
    await sleep(polled.value.retryAfterSeconds * 1000, undefined, { signal });
  }
}

export async function authUnlinkAction(request: ActionRequest): Promise<void> {
  const { context, flags, metier, caller, words } = request;
  const [capability] = takeWords("auth unlink ID [--account A]", words, [flags.capability]);
  const wish = { capability, ...presentFields({ account: flags.account }) };
  const unlinked = await untilInterrupted(context, () => metier.capabilities.auth.unlink(wish, { caller }));
  const json = ({ account }: { readonly account: string }): object => ({ capability, account });
  tellAnswer(request, unlinked, ({ account }) => unlinkedText(capability, account), json);
}
