/** What the chat itself answers to, without a model: `/help`, `/skills`, `/clear`, `/exit`. They come before skills of their name. */
import type { ChatOffer } from "../../run/chat-slash.ts";
import { cutText, type Style, safeLine } from "../output/style.ts";

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

const WIDTH = 70;

export function offersText(offers: readonly ChatOffer[], style: Style): string {
  if (offers.length === 0)
    return "There is no skill or command to call; `metier doctor` says where they are looked for.";
  const heads = offers.map(({ name, argumentHint }) =>
    safeLine(`/${name}${argumentHint === undefined ? "" : ` ${argumentHint}`}`),
  );
  const width = Math.min(32, Math.max(...heads.map((head) => head.length)));
  return offers
    .map(({ kind, description }, index) => {
      const what = kind === "command" ? "command: " : "";
      return `${style.bold((heads[index] ?? "").padEnd(width))}  ${style.dim(`${what}${cutText(description, WIDTH)}`)}`;
    })
    .join("\n");
}
