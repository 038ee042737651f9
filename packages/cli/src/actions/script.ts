/** `metier script`: runs one script of a skill. Stdout carries the script's output; Metier's messages go to stderr. */
import { createReadStream, openSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { EXIT, type ExitCode, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { safeText } from "@metier/base/text";
import { refusalText, type ScriptRequest, type ScriptResult } from "@metier/run";
import { runFolder } from "@metier/run/events";
import type { Metier } from "@metier/runtime";
import type { Action } from "../commands/define.ts";
import type { ScriptFlags } from "../commands/doing.ts";
import { type CliContext, endWith, err, out, outJson, withInterrupt } from "../context.ts";
import { askForTrust, openMetier, readCaller, workingDirectory } from "../open-metier.ts";
import { diagnosticText } from "../output/diagnostics.ts";
import { count, styleFor } from "../output/style.ts";
import { confirmInTerminal, exitFor, readSeconds, readVariables } from "./run-request.ts";

export const scriptAction: Action<ScriptFlags> = async (context, flags, ...words) => {
  const [skill = "", script, ...args] = words;
  const metier = await askForTrust(context, flags, await openMetier(context, flags));
  if (script === undefined) listScripts(context, flags, metier, skill);
  else await carryOut(context, flags, metier, { skill, script, args });
};

function listScripts(context: CliContext, { json }: ScriptFlags, metier: Metier, name: string): void {
  const skill = metier.require(name);
  const scripts = scriptsOf(metier, name);
  if (json) outJson(context, { skill: skill.name, scripts });
  else if (scripts.length === 0) err(context, `Skill \`${skill.name}\` has no scripts.`);
  else out(context, safeText(scripts.map(({ path }) => path).join("\n")));
}

function scriptsOf(
  metier: Metier,
  skill: string,
): readonly { readonly path: string; readonly size: number }[] {
  const { resources } = metier.listResources(skill);
  return resources.flatMap(({ kind, path, size }) => (kind === "scripts" ? [{ path, size }] : []));
}

async function carryOut(
  context: CliContext,
  flags: ScriptFlags,
  metier: Metier,
  asked: Pick<ScriptRequest, "skill" | "script" | "args">,
): Promise<void> {
  const { io } = context;
  const stdin = openInput(context, flags);
  const confirm = io.interactive && !flags.json ? confirmInTerminal(io) : undefined;
  try {
    const request = {
      ...asked,
      source: "user",
      caller: readCaller(flags),
      write: flags.write,
      ...readVariables(flags, workingDirectory(context, flags)),
      ...presentFields({ stdin, timeoutMs: readSeconds("--timeout", flags.timeout), confirm }),
      ...(!flags.json && {
        onProgress: (text: string) => err(context, safeText(text)),
        onOutput: (stream: "stdout" | "stderr", text: string) => pass(io[stream], text),
      }),
    } as const;
    const result = await withInterrupt(context, (signal) => metier.script({ ...request, signal }));
    finish(context, flags, metier, result);
  } finally {
    stdin?.destroy(); // An open pipe would keep this process waiting.
    await metier.capabilities.close();
  }
}

/** A program gets the raw bytes; a terminal gets no control characters that it would obey. */
function pass(stream: CliContext["io"]["stdout"], text: string): void {
  stream.write(stream.isTerminal ? safeText(text) : text);
}

function openInput(context: CliContext, flags: ScriptFlags): Readable | undefined {
  const { stdin: file } = flags;
  if (file === undefined) return context.io.input?.();
  if (file === "-") {
    const piped = context.io.input?.();
    if (piped) return piped;
    throw new UsageError("`--stdin -` reads piped input, but nothing is piped in.");
  }
  const path = resolve(workingDirectory(context, flags), file);
  try {
    return createReadStream(path, { fd: openSync(path, "r") });
  } catch (cause) {
    const hint = "Pass a file that exists and that you may read.";
    throw new UsageError(`Can't read \`--stdin\`: ${(cause as Error).message}`, { hint, cause });
  }
}

const EXIT_OF: Readonly<Record<string, ExitCode>> = {
  "script.missing": EXIT.no,
  "program.missing": EXIT.prerequisite,
  "sandbox.unavailable": EXIT.prerequisite,
};

function finish(context: CliContext, flags: ScriptFlags, metier: Metier, result: ScriptResult): void {
  const { error, refusal, files, diagnostics } = result;
  endWith(context, EXIT_OF[error?.code ?? ""] ?? exitFor(result));
  if (flags.json) {
    outJson(context, result);
    return;
  }
  const style = styleFor(context.io.color);
  const { work } = runFolder(metier.places, result.runId);
  const lines = [
    ...diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)),
    ...(files.length > 0 ? [`The script left ${count(files.length, "file")} in ${safeText(work)}.`] : []),
    ...(refusal ? [safeText(`refused: ${refusalText(refusal)}`)] : []),
    ...(error ? [safeText(`error: ${error.message}`)] : []),
    ...(error?.code === "script.missing" ? [describeScripts(metier, result.skill)] : []),
    ...(result.status === "cancelled" ? ["cancelled."] : []),
  ];
  err(context, lines.join("\n"));
}

function describeScripts(metier: Metier, skill: string): string {
  const paths = scriptsOf(metier, skill).map(({ path }) => path);
  return safeText(paths.length > 0 ? `  → Its scripts: ${paths.join(", ")}.` : "  → It has no scripts.");
}
