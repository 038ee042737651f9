/**
 * Detects that a file tool would write where the run can't, before the call, so that nobody is asked to approve
 * something that then fails. It only avoids the question; the file tools' gate decides what may be written.
 */
import { resolve } from "node:path";
import { isInside } from "@metier/base/places";
import { accessTo } from "@metier/sandbox";
import { trustAllows } from "@metier/skills/trust";
import { printPath } from "../tools/files/paths.ts";
import { type Tool, type ToolInput, toolId } from "../tools/tool.ts";
import { resolveReal } from "./granted-reach.ts";
import type { RunContext } from "./run-context.ts";

interface RefusedWrite {
  /** For the user. */
  readonly rule: string;
  /** For the model. */
  readonly message: string;
}

const WRITING_TOOLS: ReadonlySet<string> = new Set(["write_file", "edit_file"]);

export function refuseWrite(
  tool: Tool,
  { path }: ToolInput,
  { place: { world }, request, subject }: Pick<RunContext, "place" | "request" | "subject">,
): RefusedWrite | undefined {
  if (!WRITING_TOOLS.has(toolId(tool)) || typeof path !== "string" || path.includes("\0")) return undefined;
  const target = resolve(world.cwd, path);
  // Elsewhere, the tool itself says what this run sees and where it may write.
  if (!isInside(target, world.cwd) || accessTo(world, world.cwd) === "write") return undefined;
  if (accessTo(world, resolveReal(target)) === "write") return undefined;
  const shown = `\`${printPath(path)}\``;
  const elsewhere = `Write below \`${world.workDir}\` instead`;
  if (request.write || !trustAllows(subject.trust.level, "write-working-directory")) {
    const rule = `${shown} is in the working directory, which this run cannot change`;
    return { rule, message: `${rule}. ${elsewhere}.` };
  }
  const option = request.caller?.isLocal ? "`--write`" : "`write: true`";
  return {
    rule: `the working directory is read-only; allow changes with ${option}`,
    message: `${shown} was not written: the working directory is read-only without ${option}. ${elsewhere}, or tell the user.`,
  };
}
