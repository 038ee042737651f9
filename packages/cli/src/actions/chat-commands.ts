/** The chat commands that need no model: `/help`, `/skills`, `/model`, `/cost`, `/compact`, `/continue`. */
import { MetierError } from "@metier/base/errors";
import { safeLine, safeText, showCost } from "@metier/base/text";
import type { Chat, ChatOffer } from "@metier/run";
import type { KeptChat } from "@metier/run/events";
import type { Metier } from "@metier/runtime";
import type { Skill } from "@metier/skills";
import { statusSymbol } from "../output/list-text.ts";
import { count, cutText, type Style } from "../output/style.ts";

const OWN_COMMANDS = ["help", "skills", "model", "cost", "compact", "continue", "clear", "exit"] as const;
type OwnName = (typeof OWN_COMMANDS)[number];

export interface OwnCommand {
  readonly name: OwnName;
  /** The rest of the line. */
  readonly argument: string;
}

/** Commands that take a word. */
const WITH_ARGUMENT: readonly OwnName[] = ["model", "continue"];

export function readOwnCommand(text: string): OwnCommand | undefined {
  const [, word = "", argument = ""] = /^\/([a-z]+)(?:\s+(\S+))?$/.exec(text.trim()) ?? [];
  const name = word === "quit" ? "exit" : OWN_COMMANDS.find((own) => own === word);
  if (name === undefined || (argument !== "" && !WITH_ARGUMENT.includes(name))) return undefined;
  return { name, argument };
}

/** For `/clear everything`, unless a skill has that name: does nothing the user didn't mean. */
export async function misusedText(text: string, chat: Chat): Promise<string | undefined> {
  const [, word = ""] = /^\/([a-z]+)\s/.exec(text.trim()) ?? [];
  const name = OWN_COMMANDS.find((own) => own === word);
  if (name === undefined || (await chat.offers()).some((offer) => offer.name === name)) return undefined;
  const takes = WITH_ARGUMENT.includes(name) ? "one word after it" : "nothing after it";
  return `\`/${name}\` takes ${takes}. Put a space before the slash to send this as text.`;
}

/** Tab offers these after a slash. */
export async function listCommandNames(chat: Chat): Promise<readonly string[]> {
  return [...new Set([...OWN_COMMANDS, ...(await chat.offers()).map(({ name }) => name)])];
}

export const HELP = `/skills            List skills and commands, and why one is unavailable
/NAME [arguments]  Use a skill or a custom command
/model [NAME]      Show the model, or switch to another one
/cost              Show tokens and cost of this chat
/compact           Replace the chat so far by a summary; active skills stay
/continue [ID]     List saved chats of this folder, or continue one
/clear             Start a new chat
/exit              Leave (also Ctrl-D)

@path adds the text of a file. Tab completes commands, skills, and @paths.
A \`\\\` at the end, Alt-Enter, or Ctrl-J starts another line. Up and Down recall
what you typed. Ctrl-C stops an answer; press it twice to leave.
Put a space before a slash to send it as text.`;

const HEAD_WIDTH = 32;
const LEAST_WIDTH = 20;
const USUAL_COLUMNS = 100;
const GAP = "  ";
const REASON_WIDTH = 200;

/** Everything the user can call, then every skill they can't, with the reason. */
export async function skillsText(
  chat: Chat,
  { catalog }: Metier,
  style: Style,
  columns: number = USUAL_COLUMNS,
): Promise<string> {
  const offers = await chat.offers();
  const names = new Set(offers.map(({ name }) => name));
  const held = catalog.all.filter(({ name, status }) => status !== "shadowed" && !names.has(name));
  const parts = [
    ...(offers.length > 0 ? [offersText(offers, catalog.all, style, columns)] : []),
    ...(held.length > 0 ? [heldText(held, style)] : []),
  ];
  if (parts.length > 0) return parts.join("\n\n");
  return "No skills or commands found. `metier doctor` shows where Metier looked.";
}

function offersText(
  offers: readonly ChatOffer[],
  skills: readonly Skill[],
  style: Style,
  columns: number,
): string {
  const heads = offers.map(({ name, argumentHint = "" }) => cutText(`/${name} ${argumentHint}`, HEAD_WIDTH));
  const width = Math.max(...heads.map((head) => head.length));
  const untrusted = new Set(
    skills
      .filter(({ status, trust }) => status === "enabled" && trust.level === "untrusted")
      .map(({ name }) => name),
  );
  const rows = offers.map(({ name, kind, description }, index) => {
    const note = untrusted.has(name) ? " (untrusted)" : "";
    const room = Math.max(LEAST_WIDTH, columns - width - GAP.length - note.length - 1);
    const about = cutText(kind === "command" ? `command: ${description}` : description, room) + note;
    return `${style.bold((heads[index] ?? "").padEnd(width))}${GAP}${style.dim(about)}`;
  });
  return rows.join("\n");
}

function heldText(skills: readonly Skill[], style: Style): string {
  const lines = skills.map((skill) => {
    const why = skill.reason ?? (skill.status === "enabled" ? "Only the model can call it." : "");
    const head = `${statusSymbol(skill.status, style)} ${style.bold(safeLine(skill.name))} ${skill.status}`;
    return why === "" ? `  ${head}` : `  ${head}: ${cutText(why, REASON_WIDTH)}`;
  });
  return [style.bold("Not callable"), ...lines].join("\n");
}

export function costText({ budget, model }: Chat): string {
  const { inputTokens, outputTokens, totalTokens } = budget.usage;
  const cost = budget.isPriced ? `, ${showCost(budget.cost)}` : "";
  const tokens = `${totalTokens} tokens (${inputTokens} in, ${outputTokens} out)`;
  return `${tokens}${cost}, ${safeLine(model)}`;
}

/** Tab offers these aliases after `/model`. */
export function modelNames({ config }: Metier): readonly string[] {
  return Object.keys(config.config.models);
}

/** With a name, switches to that model. A wrong name changes nothing. */
export async function modelText(chat: Chat, name: string, metier: Metier): Promise<string> {
  if (name !== "") {
    try {
      await chat.useModel(name);
    } catch (fault) {
      if (!(fault instanceof MetierError)) throw fault;
      const hint = fault.hint === undefined ? "" : ` ${fault.hint}`;
      return safeText(`${fault.message}${hint} Still using ${chat.model}.`);
    }
  }
  const names = modelNames(metier);
  const others = name === "" && names.length > 0 ? ` Configured: ${names.map(safeLine).join(", ")}.` : "";
  return `Using ${safeLine(chat.model)}.${others}`;
}

export function keptChatsText(chats: readonly KeptChat[], style: Style): string {
  if (chats.length === 0) return "No saved chats in this folder.";
  const lines = chats.map(({ id, updatedAt, turns, title }) => {
    const when = updatedAt.slice(0, 16).replace("T", " ");
    return `${style.bold(id)}  ${style.dim(`${safeLine(when)}  ${count(turns, "turn")}`)}  ${cutText(title, 50)}`;
  });
  return [...lines, "`/continue ID` continues a chat."].join("\n");
}
