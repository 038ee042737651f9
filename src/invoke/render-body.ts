/**
 * A skill's body as its reader gets it: commands are found first, then arguments are put into the text between them, then
 * both are joined. So neither can make the other do anything.
 */
import { cleanText } from "../disclose/clean-text.ts";
import { hasFolder } from "../disclose/skill-folder.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { realPathOr } from "../host/project-folders.ts";
import { type BodyPiece, findCommands } from "../parse/find-commands.ts";
import type { Skill } from "../skill/skill.ts";
import { trustAllows } from "../trust/trust-policy.ts";
import { appendArguments, fillPlaceholders, readArguments } from "./arguments.ts";
import type { Execution } from "./choose-execution.ts";
import { type CommandPlace, runCommands } from "./dynamic-context.ts";
import type { EffectiveTrust } from "./effective-trust.ts";
import { pathOf } from "./report-fields.ts";

export interface BodyRequest {
  readonly skill: Skill;
  readonly execution: Execution;
  readonly trust: EffectiveTrust;
  /** One line, as it was typed. */
  readonly arguments: string;
  /** Whether the config lets commands in texts run. */
  readonly isDynamic: boolean;
  commandPlace?(skill: Skill): Promise<CommandPlace | undefined>;
}

export interface RenderedBody {
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

export async function renderBody(body: string, request: BodyRequest): Promise<RenderedBody> {
  const { skill } = request;
  const values = readArguments(request.arguments, skill.manifest.arguments, directoryOf(request));
  const pieces = findCommands(body);
  const place = await decidePlace(pieces, request);
  const outputs = typeof place === "object" ? await runCommands(pieces, values, place) : [];
  const filled = pieces.map((piece) =>
    piece.kind === "text" ? fillPlaceholders(piece.text, values) : undefined,
  );
  let command = 0;
  const text = pieces.map((piece, index) => filled[index]?.text ?? outputs[command++] ?? piece.text).join("");
  const isUsed = filled.some((piece) => piece?.isUsed);
  return {
    text: cleanText(isUsed ? text : appendArguments(text, values)).text,
    diagnostics: typeof place === "string" ? [reportLeft(skill, pieces, place)] : [],
  };
}

/** The folder as the reader sees it: the tools of a run see real paths. */
function directoryOf({ skill, execution }: BodyRequest): string | undefined {
  if (!hasFolder(skill)) return undefined;
  return execution === "isolated" ? realPathOr(skill.directory) : skill.directory;
}

const SHELLS = new Set(["bash", "sh"]);

/** Where its commands run, or why they do not; nothing when there are none. */
async function decidePlace(
  pieces: readonly BodyPiece[],
  { skill, trust, isDynamic, commandPlace }: BodyRequest,
): Promise<CommandPlace | string | undefined> {
  if (pieces.every(({ kind }) => kind === "text")) return undefined;
  if (!trustAllows(trust.level, "run-dynamic-shell-context")) {
    return `the skill is untrusted here. ${trust.reason}`;
  }
  if (!isDynamic)
    return "`skills.dynamic-context` is off; set it to `true` in your config if they are to run.";
  const { shell = "bash" } = skill.manifest;
  if (!SHELLS.has(shell)) return `the skill wants them to run in \`${shell}\`; Metier has \`bash\`.`;
  return (
    (await commandPlace?.(skill)) ?? "there is no sandbox here to run them in; `metier doctor` says why."
  );
}

function reportLeft(skill: Skill, pieces: readonly BodyPiece[], why: string): Diagnostic {
  const count = pieces.filter(({ kind }) => kind === "command").length;
  const what = count === 1 ? "The command in its text was" : `The ${count} commands in its text were`;
  return {
    code: "invoke.dynamic-context",
    severity: "warning",
    path: pathOf(skill),
    message: `${what} left as written: ${why}`,
  };
}
