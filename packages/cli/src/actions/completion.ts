/** `metier completion <shell>`: prints the script that makes a shell complete Metier's commands. */
import { UsageError } from "@metier/base/errors";
import { nearestNames, showValue } from "@metier/base/text";
import type { Action, CommonFlags } from "../commands/define.ts";
import { err, reply } from "../context.ts";
import { completionScript, SHELLS } from "../output/completion-scripts.ts";
import { ownCommand } from "../own-command.ts";

export const completionAction: Action<CommonFlags, [wanted: string]> = async (context, flags, wanted) => {
  const shell = SHELLS.find((name) => name === wanted);
  if (shell === undefined) {
    const [near] = nearestNames(wanted, SHELLS, 1);
    throw new UsageError(`No completion for the shell ${showValue(wanted)}.`, {
      hint: near === undefined ? `Use ${SHELLS.join(", ")}.` : `Did you mean \`${near}\`?`,
    });
  }
  const own = ownCommand(context.io);
  // npx may delete what it fetched and takes seconds: too slow for every key press.
  const isFetched = own[0] === "npx";
  const script = completionScript(shell, isFetched ? ["metier"] : own);
  if (isFetched) err(context, "Completion needs `metier` on your PATH: run `npm install --global metier`.");
  reply(context, flags, { shell, script }, () => script);
};
