/** Shows a long text in the user's pager, or prints it if there is no terminal or no pager. */
import { isAbsolute } from "node:path";
import { isInside, realPathOr } from "@metier/base/places";
import { createOutsideFinder } from "@metier/base/programs";
import type { Metier } from "@metier/runtime";
import { splitCommand } from "@metier/skills/config";
import { type CliContext, out } from "../context.ts";

const LIMITS = { timeoutMs: 12 * 60 * 60_000, maxOutputBytes: 65_536 };

/** More lines than most screens have. */
const LONG = 100;

/** Uses the pager if the text is longer than a screen. */
export async function showLong(
  context: CliContext,
  metier: Pick<Metier, "project" | "places">,
  text: string,
): Promise<void> {
  const isLong = context.io.interactive && text.split("\n", LONG + 1).length > LONG;
  if (isLong) await showPaged(context, metier, text);
  else out(context, text);
}

export async function showPaged(
  context: CliContext,
  { project, places }: Pick<Metier, "project" | "places">,
  text: string,
): Promise<void> {
  const pager = context.io.stdout.isTerminal ? findPager(context, project.root, places.home) : undefined;
  if (pager === undefined) {
    out(context, text);
    return;
  }
  const { runProcess } = await import("@metier/sandbox");
  const { environment } = context.io;
  const set = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const { ended } = await runProcess({
    ...pager,
    env: { LESS: "FRX", LESSSECURE: "1", ...Object.fromEntries(set) },
    stdin: text.endsWith("\n") ? text : `${text}\n`,
    limits: LIMITS,
    sharesTerminal: true,
    ownsTerminal: true,
  });
  if (ended === "refused") out(context, text);
}

interface Pager {
  readonly program: string;
  readonly args: readonly string[];
}

/** `$PAGER`, else `less`. Starts no program from inside the project, because the project's author could choose it. */
function findPager({ io }: CliContext, project: string, home: string): Pager | undefined {
  const find = createOutsideFinder(io.environment, { project, home });
  const [name = "", ...args] = splitCommand(io.environment.PAGER ?? "") ?? [];
  const named = isAbsolute(name) ? name : find(name);
  if (named !== undefined && !isInside(realPathOr(named), realPathOr(project)))
    return { program: named, args };
  const less = find("less");
  return less === undefined ? undefined : { program: less, args: [] };
}
