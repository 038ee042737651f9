/** The page that `metier` and `metier --help` print: the commands by group. */
import { VERSION } from "../foundation/version.ts";
import type { CommandGroup } from "./commands/define.ts";
import { COMMANDS } from "./program.ts";

const GROUPS: readonly CommandGroup[] = ["Reading", "Doing", "Authoring", "Managing", "Connecting"];

export function overviewText(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const groups = GROUPS.map((group) => {
    const lines = COMMANDS.filter((command) => command.group === group).map(
      ({ name, brief }) => `  ${name.padEnd(width)}  ${brief}`,
    );
    return [group, ...lines].join("\n");
  });
  return `metier ${VERSION} - the runtime for Agent Skills

Usage: metier <command> [options]

${groups.join("\n\n")}

Options of every command
  --cwd <dir>       Work as if started in this folder
  --home <dir>      Use this folder instead of the home folder, everywhere
  --config <file>   Read this config file instead of the project's
  --preset <name>   Directories, order and config of another system
  --path <path>     Also use the skills here (repeatable)
  --profile <name>  strict, standard or lenient
  --json            Print one JSON value

\`metier <command> --help\` shows the rest, with examples.
`;
}
