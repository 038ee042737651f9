/**
 * Commands in a skill's text: !`git status`, or a code block that opens with ```!. Only found here; whether and how they
 * run is decided in `invoke/dynamic-context.ts`.
 */

/** A part of a body: plain text, or a command with the text that stands for it. */
export type BodyPiece =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "command"; readonly text: string; readonly command: string };

const COMMAND = /(?<=^|\s)!`(?<inline>[^`\n]+)`|^```!(?:[ \t]*\n)(?<block>(?:(?!^```).*\n)*)^```[ \t]*$/gm;

export function findCommands(body: string): readonly BodyPiece[] {
  const pieces: BodyPiece[] = [];
  let end = 0;
  for (const match of body.matchAll(COMMAND)) {
    const command = (match.groups?.inline ?? match.groups?.block ?? "").trim();
    if (command === "") continue;
    pieces.push({ kind: "text", text: body.slice(end, match.index) });
    pieces.push({ kind: "command", text: match[0], command });
    end = match.index + match[0].length;
  }
  return [...pieces, { kind: "text", text: body.slice(end) }];
}
