/** `metier chat`: one answer for a message, or a conversation in a terminal. */
import { UsageError } from "../../foundation/errors.ts";
import type { Chat } from "../../run/chat.ts";
import { askForTrust } from "../ask-for-trust.ts";
import { type CallerFlags, readCaller } from "../caller-flags.ts";
import { readOwnCommand } from "../chat/own-commands.ts";
import { answerOwn, runSession } from "../chat/session.ts";
import { createTeller, type Teller } from "../chat/tell-turn.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, out, outJson } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { safeText } from "../output/style.ts";
import { exitFor } from "../run/exit-for.ts";
import { readCount } from "../run/run-flags.ts";

interface ChatFlags extends CommonFlags, CallerFlags {
  readonly model?: string;
  readonly approve: boolean;
  readonly maxTokens?: string;
  readonly write: boolean;
}

export async function run(context: CliContext, flags: ChatFlags, ...words: readonly string[]): Promise<void> {
  const { model, maxTokens, write, approve, json } = flags;
  const message = words.join(" ");
  const isAlone = message.trim() === "";
  const { interactive } = context.io;
  if (isAlone && (json || !interactive)) {
    throw new UsageError(
      json ? "`--json` needs a message." : "There is no terminal to have a conversation in.",
      { hint: 'Give the message: `metier chat "…"`.' },
    );
  }
  const limits =
    maxTokens === undefined ? {} : { maxConversationTokens: readCount("--max-tokens", maxTokens) };
  const metier = await askForTrust(context, flags, await openMetier(context, flags));
  const { tell, options } = createTeller(context, { approve, json, streams: interactive && !json });
  const open = (): Promise<Chat> =>
    metier.chat({
      caller: readCaller(flags),
      limits,
      write,
      ...(model !== undefined && { model }),
      ...options,
    });
  try {
    if (isAlone) await runSession(context, { open, tell });
    else await answerOnce(context, flags, message, await open(), tell);
  } finally {
    await metier.capabilities.close();
  }
}

async function answerOnce(
  context: CliContext,
  { json }: ChatFlags,
  message: string,
  chat: Chat,
  tell: Teller,
): Promise<void> {
  const own = readOwnCommand(message);
  if (own === "clear" || own === "exit") {
    throw new UsageError(`\`/${own}\` is for a conversation in a terminal.`, {
      hint: "Start one with `metier chat`.",
    });
  }
  if (own !== undefined) {
    if (json) outJson(context, { offers: await chat.offers() });
    else out(context, await answerOwn(own, chat, context));
    return;
  }
  const turn = await tell(chat, message);
  if (turn === "left") {
    endWith(context, exitFor({ status: "cancelled" }));
    return;
  }
  endWith(context, exitFor(turn));
  if (json) outJson(context, turn);
  else if (!context.io.interactive) out(context, safeText(turn.text));
}
