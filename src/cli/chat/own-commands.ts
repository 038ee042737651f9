/** What the chat itself answers to, without a model: `/help`, `/skills`, `/clear`, `/exit`. They come before skills of their name. */
import type { ChatOffer } from "../../run/chat-slash.ts";
import { cutText, type Style } from "../output/style.ts";

const OWN_COMMANDS = ["help", "skills", "clear", "exit"] as const;
export type OwnCommand = (typeof OWN_COMMANDS)[number];

export function readOwnCommand(text: string): OwnCommand | undefined {
  const word = text.trim();
  if (word === "/quit") return "exit";
  return OWN_COMMANDS.find((name) => word === `/${name}`);
}

export const HELP = `/skills            what can be called by name
/NAME [arguments]  use a skill or a custom command
/clear             begin a new conversation
/exit              leave; so does Ctrl-D
Anything else is a message. Ctrl-C cancels the answer that is under way; a second time it leaves.
A space before a slash makes a message of it.`;

const HEAD_WIDTH = 32;
const WIDTH = 70;

export function offersText(offers: readonly ChatOffer[], style: Style): string {
  if (offers.length === 0) {
    return "There is no skill or command to call; `metier doctor` says where they are looked for.";
  }
  const rows = offers.map(({ name, kind, argumentHint = "", description }) => ({
    head: cutText(`/${name} ${argumentHint}`, HEAD_WIDTH),
    about: cutText(kind === "command" ? `command: ${description}` : description, WIDTH),
  }));
  const width = Math.max(...rows.map(({ head }) => head.length));
  return rows.map(({ head, about }) => `${style.bold(head.padEnd(width))}  ${style.dim(about)}`).join("\n");
}
