/**
 * The hooks of one run at work: commands of its skill, in its sandbox, asked before and after its tool calls and at its
 * end. One that cannot be asked before a call blocks it; afterwards a fault is reported. Never throws.
 */
import { join } from "node:path";
import type { RunEventBody } from "../../events/run-event.ts";
import type { ToolContext, ToolOutput } from "../../tools/tool.ts";
import type { HookEvent } from "../../validate/read-hooks.ts";
import type { RunHook } from "./find-hooks.ts";
import { type HookedRun, type HookSubject, hookInput } from "./hook-input.ts";
import { failed, type HookVerdict, readVerdict } from "./hook-verdict.ts";

/** A call as the model made it, without secrets. */
export interface HookedCall extends Required<Pick<HookSubject, "tool" | "callId" | "input">> {
  readonly step: number;
  readonly context: ToolContext;
}

export interface RunHooks {
  /** Why a call is not carried out; `undefined`: it is. */
  beforeTool(call: HookedCall): Promise<string | undefined>;
  /** `blocked`: the answer is kept from the model, and why. `notes`: what it is told beside it. */
  afterTool(call: HookedCall, output: ToolOutput): Promise<AfterTool>;
  /** Why the run is to go on; `undefined`: it may end. */
  atEnd(end: { readonly text: string; readonly continued: number } & HookScene): Promise<string | undefined>;
}

export interface AfterTool {
  readonly blocked?: string;
  readonly notes: readonly string[];
}

interface HookScene {
  readonly step: number;
  readonly context: ToolContext;
}

export interface HookDesk extends HookedRun {
  readonly hooks: readonly RunHook[];
  /** Takes secrets out of what a hook answers. */
  redact(text: string): string;
  emit(event: RunEventBody): void;
  /** A hook that could not be carried out, where that blocks nothing. */
  onFault(hook: HookEvent, reason: string): void;
}

const MAX_OUTPUT_BYTES = 256 * 1024;

export function createRunHooks(desk: HookDesk): RunHooks {
  const ask = async (hook: RunHook, subject: HookSubject, scene: HookScene): Promise<HookVerdict> => {
    const startedAt = performance.now();
    const verdict = await askHook(hook, subject, scene.context, desk);
    const { tool, callId } = subject;
    desk.emit({
      type: "hook-finished",
      step: scene.step,
      hook: hook.event,
      ...(tool !== undefined && { tool }),
      ...(callId !== undefined && { callId }),
      outcome: verdict.outcome,
      ...(verdict.outcome !== "allow" && { reason: verdict.reason }),
      durationMs: Math.round(performance.now() - startedAt),
    });
    if (verdict.outcome === "fault" && hook.event !== "pre-tool") desk.onFault(hook.event, verdict.reason);
    return verdict;
  };
  const hooksFor = (event: HookEvent, tool?: string): readonly RunHook[] =>
    desk.hooks.filter((hook) => hook.event === event && (tool === undefined || hook.isFor(tool)));

  return {
    async beforeTool({ tool, callId, input, ...scene }) {
      for (const hook of hooksFor("pre-tool", tool)) {
        const verdict = await ask(hook, { tool, callId, input }, scene);
        if (verdict.outcome === "allow") continue;
        const what = verdict.outcome === "block" ? "blocked it" : "could not be asked";
        return `a \`pre-tool\` hook ${what}: ${verdict.reason}`;
      }
      return undefined;
    },
    async afterTool({ tool, callId, input, ...scene }, output) {
      const notes: string[] = [];
      for (const hook of hooksFor("post-tool", tool)) {
        const verdict = await ask(hook, { tool, callId, input, output }, scene);
        if (verdict.outcome === "block") return { blocked: verdict.reason, notes: [] };
        if (verdict.outcome === "allow" && verdict.note !== undefined) notes.push(verdict.note);
      }
      return { notes };
    },
    async atEnd({ text, continued, ...scene }) {
      for (const hook of hooksFor("stop")) {
        const verdict = await ask(hook, { output: { text, isError: false }, continued }, scene);
        if (verdict.outcome === "block") return verdict.reason;
      }
      return undefined;
    },
  };
}

async function askHook(
  hook: RunHook,
  subject: HookSubject,
  { world, sandbox, env, signal }: ToolContext,
  run: HookedRun & Pick<HookDesk, "redact">,
): Promise<HookVerdict> {
  if ("fault" in hook) return failed(hook.fault);
  const { command, event, timeoutMs } = hook;
  if (sandbox === undefined) return failed("no sandbox works here; see `metier doctor`");
  if (!sandbox.runsPrograms) return failed(`\`${sandbox.backend}\` runs no programs; see \`metier doctor\``);
  const argv = typeof command === "string" ? ["sh", "-c", command] : locate(command, world.skillDir);
  if (argv === undefined) return failed(`the skill has no folder, so it has no \`${command[0]}\``);
  try {
    const outcome = await sandbox.run({
      argv,
      world,
      cwd: world.skillDir ?? world.workDir,
      env: { ...env, METIER_HOOK: event },
      stdin: hookInput(hook, run, subject, world),
      limits: { timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES },
      signal,
    });
    const { stdout, stderr } = outcome; // Without secrets before anything is cut, so that no half of one is left.
    const clean = { ...outcome, stdout: run.redact(stdout), stderr: run.redact(stderr) };
    return readVerdict(event, clean, timeoutMs);
  } catch (error) {
    return failed(`it could not be started: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** A relative path is one in the skill's folder; a bare name is looked up inside the sandbox. */
function locate(
  [program = "", ...words]: readonly string[],
  skillDir: string | undefined,
): readonly string[] | undefined {
  if (program.startsWith("/") || !program.includes("/")) return [program, ...words];
  return skillDir === undefined ? undefined : [join(skillDir, program), ...words];
}
