/** `metier chat`: answers one message, or holds a conversation in a terminal until the user leaves. */
import { EXIT, MetierError, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { safeLine, safeText } from "@metier/base/text";
import { type Chat, dataOwner } from "@metier/run";
import { listKeptChats } from "@metier/run/events";
import type { Metier } from "@metier/runtime";
import type { Action } from "../commands/define.ts";
import type { ChatFlags } from "../commands/doing.ts";
import {
  type CliContext,
  type CompleteText,
  columnsOf,
  endWith,
  err,
  fit,
  out,
  outJson,
} from "../context.ts";
import { askForTrust, openMetier, readCaller, workingDirectory } from "../open-metier.ts";
import type { MarkdownStream } from "../output/markdown-stream.ts";
import { count, type Style, styleFor } from "../output/style.ts";
import {
  costText,
  HELP,
  keptChatsText,
  listCommandNames,
  misusedText,
  modelNames,
  modelText,
  type OwnCommand,
  readOwnCommand,
  skillsText,
} from "./chat-commands.ts";
import { addFiles } from "./chat-files.ts";
import { completeTyped, openHistory } from "./chat-prompt.ts";
import { COMPACT, createTeller, type Teller } from "./chat-turn.ts";
import { readMessageInput } from "./message-input.ts";
import { showLong } from "./pager.ts";
import { exitFor, readAmount, readCount } from "./run-request.ts";

export const chatAction: Action<ChatFlags> = async (context, flags, ...words) => {
  const { model, maxTokens, maxCost, write, approve, json } = flags;
  // Only typed words can call a skill: piped text must not call one because it happens to start with a slash.
  const { message: said = "" } = await readMessageInput(context, words);
  const message = words[0]?.startsWith("/") ? said : said.replace(/^\//, " /");
  const isAlone = message.trim() === "";
  const { interactive } = context.io;
  if (isAlone && (json || !interactive)) {
    throw new UsageError(
      json ? "`--json` needs a message." : "`metier chat` without a message needs a terminal.",
      { hint: 'Pass the message: `metier chat "…"`, or pipe it in.' },
    );
  }
  const limits = presentFields({
    maxConversationTokens: readCount("--max-tokens", maxTokens),
    maxConversationCost: readAmount("--max-cost", maxCost),
  });
  const metier = await askForTrust(context, flags, await openMetier(context, flags));
  const streams = interactive && !json;
  const markdown = streams && context.io.color ? await openMarkdown(context) : undefined;
  const { tell, options } = createTeller(context, { approve, json, streams, markdown }, metier.places);
  const open = (resume?: string): Promise<Chat> =>
    metier.chat({
      caller: readCaller(flags),
      limits,
      write,
      keep: true,
      ...presentFields({ model, resume }),
      ...options,
    });
  const cwd = workingDirectory(context, flags);
  const place: ChatPlace = { metier, cwd, owner: dataOwner(readCaller(flags)), open, tell };
  try {
    const chat = await open(flags.continue ? requireLast(place) : undefined);
    if (isAlone) await runSession(context, place, chat);
    else await answerOnce(context, flags, message, place, chat);
  } finally {
    await metier.capabilities.close();
  }
};

/** The grammar is large, and only a terminal needs it. */
async function openMarkdown({ io }: CliContext): Promise<MarkdownStream> {
  const { createMarkdownStream } = await import("../output/markdown-stream.ts");
  return createMarkdownStream(styleFor(true), () => io.stdout.columns ?? 80);
}

interface ChatPlace {
  readonly metier: Metier;
  readonly cwd: string;
  /** Whose chats to use; `undefined` means the person at this machine. */
  readonly owner: string | undefined;
  /** Starts a chat, or continues the one with that id. */
  open(resume?: string): Promise<Chat>;
  readonly tell: Teller;
}

function requireLast({ metier, cwd, owner }: ChatPlace): string {
  const [last] = listKeptChats(metier.places, cwd, 1, owner);
  if (last !== undefined) return last.id;
  throw new UsageError("No saved chat in this folder to continue.", {
    hint: "Start one with `metier chat`.",
  });
}

async function answerOnce(
  context: CliContext,
  { json }: ChatFlags,
  message: string,
  place: ChatPlace,
  chat: Chat,
): Promise<void> {
  const own = readOwnCommand(message);
  if (own?.name === "clear" || own?.name === "exit" || (own?.name === "continue" && own.argument !== "")) {
    throw new UsageError(`\`/${own.name}\` works only in a chat in a terminal.`, {
      hint: "Start one with `metier chat`.",
    });
  }
  if (own !== undefined && own.name !== "compact") {
    if (json) outJson(context, await ownJson(own, chat));
    else await showLong(context, place.metier, fit(context, await answerOwn(own, chat, place, context)));
    return;
  }
  const turn =
    own === undefined
      ? await place.tell(chat, withFiles(context, message, place.cwd))
      : await place.tell(chat, COMPACT);
  endWith(context, exitFor(turn === "left" ? { status: "cancelled" } : turn));
  if (turn === "left") return;
  if (json) outJson(context, turn);
  else if (!context.io.interactive) out(context, safeText(turn.text));
}

async function runSession(context: CliContext, place: ChatPlace, first: Chat): Promise<void> {
  let chat = first;
  out(context, greeting(first, styleFor(context.io.color)));
  for await (const text of readTexts(context, place, () => chat)) {
    const own = readOwnCommand(text);
    if (own?.name === "exit") return;
    try {
      const next = await answerTyped(context, place, chat, text, own);
      if (next === "left") {
        endWith(context, EXIT.cancelled);
        return;
      }
      chat = next;
    } catch (fault) {
      sayFault(context, fault, own);
    }
  }
}

/** The chat to continue. */
async function answerTyped(
  context: CliContext,
  place: ChatPlace,
  chat: Chat,
  text: string,
  own: OwnCommand | undefined,
): Promise<Chat | "left"> {
  const style = styleFor(context.io.color);
  const misused = own === undefined ? await misusedText(text, chat) : undefined;
  if (misused !== undefined) err(context, style.yellow(misused));
  else if (own?.name === "clear" || (own?.name === "continue" && own.argument !== "")) {
    const next = await place.open(own.name === "clear" ? undefined : own.argument);
    out(context, own.name === "clear" ? style.dim("Started a new chat.") : greeting(next, style));
    return next;
  } else if (own !== undefined && own.name !== "compact")
    await showLong(context, place.metier, fit(context, await answerOwn(own, chat, place, context)));
  else {
    const told = own === undefined ? withFiles(context, text, place.cwd) : COMPACT;
    if ((await place.tell(chat, told)) === "left") return "left";
  }
  return chat;
}

/** A request that fails leaves the chat as it is. */
function sayFault(context: CliContext, fault: unknown, own: OwnCommand | undefined): void {
  if (!(fault instanceof MetierError)) throw fault;
  const hint = own?.name === "continue" ? "`/continue` lists the saved chats." : (fault.hint ?? "");
  err(context, styleFor(context.io.color).yellow(safeText(`${fault.message} ${hint}`.trim())));
}

function greeting({ model, resumed }: Chat, { dim }: Style): string {
  const before = resumed === undefined ? "" : ` Continuing a chat with ${count(resumed.turns, "turn")}.`;
  return dim(`Using ${safeLine(model)}.${before} Type /help for commands.`);
}

function withFiles(context: CliContext, message: string, cwd: string): string {
  const { dim, yellow } = styleFor(context.io.color);
  const { text, added, notes } = addFiles(message, cwd);
  for (const path of added) err(context, dim(`+ ${safeLine(path)}`));
  for (const note of notes) err(context, yellow(safeLine(note)));
  return text;
}

/** Reads input until Ctrl-D, or Ctrl-C twice at an empty prompt. */
async function* readTexts(
  context: CliContext,
  { metier, cwd }: ChatPlace,
  chat: () => Chat,
): AsyncGenerator<string> {
  const { bold, dim } = styleFor(context.io.color);
  const history = openHistory(metier.places);
  const complete: CompleteText = async (before) =>
    completeTyped(before, { commands: await listCommandNames(chat()), models: modelNames(metier) }, cwd);
  let isLeaving = false;
  for (;;) {
    const typed = await context.io.readLine(bold("> "), history.texts, complete);
    if (typed.kind === "end") return;
    const text = typed.text.trimEnd();
    if (typed.kind === "interrupt") {
      if (isLeaving && text === "") return;
      isLeaving = text === "";
      if (isLeaving) err(context, dim("Press Ctrl-C again, Ctrl-D, or type /exit to leave."));
    } else if (text !== "") {
      isLeaving = false;
      history.add(chat().redact(text));
      yield text;
    }
  }
}

async function ownJson({ name }: OwnCommand, { model, budget, offers }: Chat): Promise<unknown> {
  if (name === "model") return { model };
  if (name === "cost") return { model, usage: budget.usage, cost: budget.cost };
  return { offers: await offers() };
}

async function answerOwn(
  { name, argument }: OwnCommand,
  chat: Chat,
  { metier, cwd, owner }: ChatPlace,
  { io }: CliContext,
): Promise<string> {
  const style = styleFor(io.color);
  switch (name) {
    case "skills":
      return skillsText(chat, metier, style, columnsOf(io.stdout));
    case "model":
      return modelText(chat, argument, metier);
    case "cost":
      return costText(chat);
    case "continue":
      return keptChatsText(listKeptChats(metier.places, cwd, undefined, owner), style);
    default:
      return HELP;
  }
}
