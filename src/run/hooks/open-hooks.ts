/** The hooks of a run, opened once for it: around its calls, at its end, and where their faults are reported. */
import type { OutputFilterMode } from "../../config/run-fields.ts";
import type { RunEventBody } from "../../events/run-event.ts";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../../foundation/diagnostic-codes.ts";
import type { Redactor } from "../../secrets/redaction.ts";
import type { ToolContext } from "../../tools/tool.ts";
import { filterOutput } from "../output-filter.ts";
import type { RunHook } from "./find-hooks.ts";
import { createRunHooks, type RunHooks } from "./run-hooks.ts";
import type { EndHooks } from "./run-to-end.ts";

export interface HooksInput {
  readonly hooks: readonly RunHook[];
  readonly skill: { readonly name: string; readonly location: string };
  readonly runId: string;
  readonly redactor: Redactor;
  readonly outputFilter: OutputFilterMode;
  /** Where faults are noted. */
  readonly diagnostics: Diagnostic[];
  emit(event: RunEventBody): void;
  step(): number;
  /** What the model has answered so far. */
  text(): string;
  /** For what is asked at the end. */
  context(): ToolContext;
}

export interface OpenHooks {
  readonly around: RunHooks;
  readonly end: EndHooks;
}

/** `undefined` where there are none: then a run costs nothing more. */
export function openHooks(input: HooksInput): OpenHooks | undefined {
  const { hooks, skill, runId, redactor, outputFilter, emit } = input;
  if (hooks.length === 0) return undefined;
  const report = createReport(input);
  const around = createRunHooks({
    hooks,
    skill: skill.name,
    runId,
    redact: (text) => redactor.redact(text),
    emit,
    onFault: (hook, reason) =>
      report("hook.failed", `A \`${hook}\` hook could not be carried out: ${reason}.`),
  });
  return {
    around,
    end: {
      async ask(continued) {
        const text = redactor.redact(input.text());
        const reason = await around.atEnd({ text, continued, step: input.step(), context: input.context() });
        if (reason === undefined) return undefined;
        const said = filterOutput(redactor.redact(reason), outputFilter);
        return `You are not done: a \`stop\` hook of the skill asks you to go on. ${said}`;
      },
      onOverruled: (why) =>
        report("hook.stop-overruled", `A \`stop\` hook wants the run to go on, but it ends: ${why}.`),
    },
  };
}

/** Each message once, however often it happens. */
function createReport({ skill, redactor, diagnostics, emit }: HooksInput) {
  const said = new Set<string>();
  return (code: DiagnosticCode, text: string): void => {
    const message = redactor.redact(text);
    if (said.has(message)) return;
    said.add(message);
    emit({ type: "diagnostic", code, message });
    diagnostics.push({ code, severity: "warning", path: skill.location, message });
  };
}
