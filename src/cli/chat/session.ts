/** A chat in a terminal: prompt, answer, prompt, until the user leaves. */
import { EXIT } from "../../foundation/exit-codes.ts";
import type { Chat } from "../../run/chat.ts";
import { type CliContext, endWith, err, out } from "../context.ts";
import { safeLine, styleFor } from "../output/style.ts";
import { HELP, type OwnCommand, offersText, readOwnCommand } from "./own-commands.ts";
import type { Teller } from "./tell-turn.ts";

export interface SessionParts {
  /** Begins a new conversation. */
  open(): Promise<Chat>;
  readonly tell: Teller;
}

export async function runSession(context: CliContext, { open, tell }: SessionParts): Promise<void> {
  const style = styleFor(context.io.color);
  let chat = await open();
  out(context, style.dim(`Talking with ${safeLine(chat.model)}. /help says what else you can type.`));
  for await (const text of readTexts(context)) {
    const own = readOwnCommand(text);
    if (own === "exit") return;
    if (own === "clear") {
      chat = await open();
      out(context, style.dim("A new conversation."));
    } else if (own !== undefined) out(context, await answerOwn(own, chat, context));
    else if ((await tell(chat, text)) === "left") {
      endWith(context, EXIT.cancelled);
      return;
    }
  }
}

/** What the user types, until Ctrl-D or two Ctrl-C in a row at an empty prompt. */
async function* readTexts(context: CliContext): AsyncGenerator<string> {
  const { bold, dim } = styleFor(context.io.color);
  const history: string[] = [];
  let isLeaving = false;
  for (;;) {
    const typed = await context.io.readLine(bold("> "), history);
    if (typed.kind === "end") return;
    const text = typed.text.trimEnd();
    if (typed.kind === "interrupt") {
      if (isLeaving && text === "") return;
      isLeaving = text === "";
      if (isLeaving) err(context, dim("Ctrl-C again, Ctrl-D or /exit leaves."));
    } else if (text !== "") {
      isLeaving = false;
      if (history[0] !== text) history.unshift(text);
      yield text;
    }
  }
}

export async function answerOwn(
  own: Exclude<OwnCommand, "clear" | "exit">,
  chat: Chat,
  { io }: CliContext,
): Promise<string> {
  return own === "help" ? HELP : offersText(await chat.offers(), styleFor(io.color));
}
