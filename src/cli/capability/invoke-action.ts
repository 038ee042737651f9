/** `metier capability invoke`: one operation. What changes something is asked about in the terminal, and nowhere else. */
import type { JsonObject } from "../../capabilities/capability.ts";
import type { ConfirmMutation } from "../../capabilities/capability-broker.ts";
import { CancelledError, UsageError } from "../../foundation/errors.ts";
import { readCaller } from "../caller-flags.ts";
import { type CliContext, out, outJson } from "../context.ts";
import { workingDirectory } from "../open-metier.ts";
import { answerText } from "../output/capabilities-text.ts";
import { readPiped } from "../read-piped.ts";
import { parseInput, readInput } from "../run/run-flags.ts";
import { type ActionRequest, type CapabilityFlags, takeWords } from "./capability-action.ts";
import { confirmInTerminal } from "./confirm-mutation.ts";
import { reportCapabilityFault } from "./report-fault.ts";

export async function invokeCapability({ context, flags, metier, words }: ActionRequest): Promise<void> {
  const { account, idempotencyKey } = flags;
  const usage = "invoke ID OPERATION [--input JSON]";
  const [capability, operation] = takeWords(usage, words, [flags.capability, flags.operation]);
  const input = await readObject(context, flags);
  const stop = new AbortController();
  const unlisten = context.io.onInterrupt(() => stop.abort(new CancelledError("Cancelled.")));
  try {
    const answer = await metier.capabilities.invoke(
      {
        capability,
        operation,
        ...(input && { input }),
        ...(account !== undefined && { account }),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
      },
      {
        caller: readCaller(flags),
        signal: stop.signal,
        ...(context.io.interactive && !flags.json && { confirm: askOrStop(context, stop) }),
      },
    );
    if (!answer.ok) reportCapabilityFault(context, flags, answer.fault);
    else if (flags.json) outJson(context, answer.value);
    else out(context, answerText(answer.value));
  } finally {
    unlisten();
  }
}

/** Ctrl-C at the question means the call, not the question alone. */
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
      ? parseInput(await readPiped(context, "--input"))
      : readInput(flags.input, workingDirectory(context, flags));
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new UsageError("`--input` is no JSON object.", {
      hint: "Give one, as in '{\"limit\": 5}', @file, or - for what is piped in.",
    });
  }
  return input as JsonObject;
}
