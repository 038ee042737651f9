/**
 * `metier config edit`: opens the config file in the user's editor and checks the result. If it has problems, the user
 * can reopen it, keep it, or undo the changes.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { EXIT, MetierError, UsageError } from "@metier/base/errors";
import { isInside, realPathOr } from "@metier/base/places";
import { createCommandFinder, type Environment } from "@metier/base/programs";
import { safeLine } from "@metier/base/text";
import type { Metier } from "@metier/runtime";
import type { ConfigFlags } from "../commands/managing.ts";
import { askWord, type CliContext, endWith, out } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { diagnosticsText } from "../output/diagnostics.ts";
import { styleFor } from "../output/style.ts";
import { readWords } from "./complete-line.ts";

export async function editConfig(
  context: CliContext,
  flags: ConfigFlags,
  metier: Metier,
  file: string,
): Promise<void> {
  const { io } = context;
  if (!io.interactive || flags.json)
    throw new UsageError("`metier config edit` opens an editor and needs a terminal.", {
      hint: `Edit \`${file}\` yourself, or use \`metier config set <key> <value>\`.`,
    });
  const editor = findEditor(io.environment, metier);
  const before = readText(file);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  for (;;) {
    await startEditor(context, editor, file);
    if (readText(file) === before) {
      out(context, safeLine(`No changes: ${file}`));
      return;
    }
    const problems = await findProblems(context, flags, file);
    if (problems.length === 0) {
      out(context, safeLine(`Saved: ${file}`));
      if (flags.project) out(context, "Run `metier trust` so that this project can use your changes.");
      return;
    }
    out(context, diagnosticsText(problems, styleFor(io.color)));
    const answer = await askProblems(context);
    if (answer === "reopen") continue;
    finish(context, answer, file, before, problems);
    return;
  }
}

function finish(
  context: CliContext,
  answer: "keep" | "undo",
  file: string,
  before: string | undefined,
  problems: readonly Diagnostic[],
): void {
  if (answer === "keep") {
    if (problems.some(({ severity }) => severity === "error")) endWith(context, EXIT.usage);
    out(context, safeLine(`Saved with problems: ${file}`));
    return;
  }
  if (before === undefined) rmSync(file, { force: true });
  else writeFileSync(file, before); // Writes in place: the file may be a link, and keeps its mode.
  out(context, safeLine(`Undid your changes: ${file}`));
}

/** Asks again on any unclear answer: an accident must neither keep a broken file nor lose work. */
async function askProblems(context: CliContext): Promise<"reopen" | "keep" | "undo"> {
  for (;;) {
    const typed = await askWord(context, "[r]eopen the editor, [k]eep the file as it is, or [u]ndo? ");
    const found = (["reopen", "keep", "undo"] as const).find(
      (word) => typed !== "" && word.startsWith(typed),
    );
    if (found !== undefined) return found;
  }
}

async function findProblems(
  context: CliContext,
  flags: ConfigFlags,
  file: string,
): Promise<readonly Diagnostic[]> {
  const { config } = await openMetier(context, flags, { autoDiscover: false });
  // Settings that need a grant are still valid: `metier trust` is the next step.
  return config.diagnostics.filter(
    ({ path, severity, code }) => path === file && severity !== "info" && code !== "config.not-granted",
  );
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw fault;
  }
}

interface Editor {
  readonly program: string;
  readonly args: readonly string[];
}

const USUAL = ["editor", "nano", "vim", "vi"];

/** `$VISUAL`, `$EDITOR` or a common editor; never a program from the project. */
function findEditor(environment: Environment, { project, places }: Metier): Editor {
  // A home folder that is itself a repository holds the user's own programs.
  const isOfProject = (path: string): boolean =>
    isInside(realPathOr(path), project.root) && !isInside(places.home, project.root);
  const find = (word: string): string | undefined => {
    const path = isAbsolute(word) ? word : createCommandFinder(environment)(word);
    return path === undefined || isOfProject(path) ? undefined : path;
  };
  const wanted = environment.VISUAL?.trim() || environment.EDITOR?.trim();
  if (wanted) {
    const [word = "", ...args] = readWords(wanted);
    const program = find(word);
    if (program !== undefined) return { program, args };
    throw new MetierError("setup.unavailable", `The editor \`${word}\` was not found outside this project.`, {
      hint: "Set VISUAL or EDITOR to a program on your PATH, or to its absolute path.",
    });
  }
  for (const name of USUAL) {
    const program = find(name);
    if (program !== undefined) return { program, args: [] };
  }
  throw new MetierError("setup.unavailable", "No editor found.", {
    hint: "Set VISUAL or EDITOR, for example `EDITOR=nano metier config edit`.",
  });
}

/** The runner wants a limit; nobody edits for longer. */
const LIMITS = { timeoutMs: 7 * 24 * 60 * 60_000, maxOutputBytes: 0 };

async function startEditor({ io }: CliContext, { program, args }: Editor, file: string): Promise<void> {
  const { runProcess } = await import("@metier/sandbox");
  const env = Object.fromEntries(
    Object.entries(io.environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  // A Ctrl-C in the editor also reaches this process, and is not meant for it.
  let release = (): void => undefined;
  const ignore = (): void => {
    release = io.onInterrupt(ignore);
  };
  ignore();
  try {
    const cwd = dirname(file);
    const outcome = await runProcess({
      program,
      args: [...args, file],
      env,
      cwd,
      limits: LIMITS,
      ownsTerminal: true,
    });
    if (outcome.ended === "exited" && outcome.exitCode === 0) return;
    const how = outcome.reason ?? `it ended with ${outcome.exitCode ?? outcome.ended}`;
    throw new MetierError("setup.failed", `The editor \`${program}\` failed: ${how}.`, {
      hint: `The file is \`${file}\`. Check it with \`metier config\`.`,
    });
  } finally {
    release();
  }
}
