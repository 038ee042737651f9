/**
 * `run_script`: runs a script of a skill in the sandbox. That of the running skill runs in the world of the run; that of
 * another skill in a world of its own, with the lower trust of both.
 */
import { nearestNames } from "../../foundation/nearest-names.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { World } from "../../sandbox/world.ts";
import type { Json } from "../../skill/manifest.ts";
import { showValue } from "../../validate/report.ts";
import { explainNoSandbox } from "../bash.ts";
import { runForModel } from "../run-command.ts";
import { fault, type Tool, type ToolContext, type ToolInput, type ToolOutput } from "../tool.ts";
import { prepareScript, type ScriptCall } from "./prepare-script.ts";

/** Where a script of another skill runs; open until `close`. */
export interface OpenedPlace {
  readonly ok: true;
  readonly world: World;
  readonly sandbox?: Sandbox;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Opens the place of another skill, by all checks; a refusal is words for the model. */
export type OpenScriptPlace = (
  skill: string,
  context: ToolContext,
) => Promise<OpenedPlace | { readonly ok: false; readonly message: string }>;

export interface RunScriptOptions {
  readonly timeoutMs: number;
  /** The skill that runs, where it has a folder: it need not be named. */
  readonly own?: string;
  /** Other skills with folders that may be read here, as they are now. */
  others(): readonly string[];
  readonly open: OpenScriptPlace;
}

/** A larger list of names would cost more than it says; the call is checked whatever its schema says. */
const MOST_NAMES = 100;

const ADVICE = {
  moreTime: "`skills.script-timeout-ms` in the user's config gives scripts more time.",
  marksJson: true,
};

export function runScriptTool(options: RunScriptOptions): Tool {
  const { own, timeoutMs } = options;
  return {
    name: "run_script",
    description: [
      "Runs a script of a skill in the sandbox and gives its exit code, standard output and standard error.",
      "It starts in the skill's folder, which is read-only; `$METIER_WORK_DIR` is writable, and what is in `$METIER_DATA_DIR` is kept for the next time.",
    ].join(" "),
    inputSchema: inputSchema(options),
    effect: "execute",
    async execute(input, context) {
      const skill = input.skill ?? own;
      if (skill === own && own !== undefined) return run(input, context, context, timeoutMs);
      const others = options.others();
      if (typeof skill !== "string" || !others.includes(skill)) return fault(explainMiss(skill, own, others));
      const place = await options.open(skill, context);
      if (!place.ok) return fault(place.message);
      try {
        return await run(input, context, place, timeoutMs);
      } finally {
        await place.close();
      }
    },
  };
}

function inputSchema({ own, others }: RunScriptOptions): Readonly<Record<string, Json>> {
  const names = others();
  const skill = {
    type: "string",
    description: own === undefined ? "Whose script it is." : `Whose script it is. Default: \`${own}\`.`,
    ...(names.length < MOST_NAMES && { enum: [...(own === undefined ? [] : [own]), ...names] }),
  };
  return {
    type: "object",
    properties: {
      ...(names.length > 0 && { skill }),
      script: {
        type: "string",
        minLength: 1,
        description: "Path in the skill's folder: `scripts/report.py`.",
      },
      args: { type: "array", items: { type: "string" }, maxItems: 100, description: "Its arguments." },
      stdin: {
        description:
          "What it reads from standard input: a text, or any other JSON value, which it gets as JSON.",
      },
    },
    required: own === undefined ? ["skill", "script"] : ["script"],
    additionalProperties: false,
  };
}

async function run(
  input: ToolInput,
  context: ToolContext,
  { world, env, sandbox }: Pick<ToolContext, "world" | "env" | "sandbox">,
  timeoutMs: number,
): Promise<ToolOutput> {
  if (!sandbox) return explainNoSandbox();
  const { signal } = context;
  const call = input as unknown as ScriptCall;
  const prepared = await prepareScript(call, { sandbox, world, env, signal, timeoutMs });
  if (!prepared.ok) return fault(prepared.message);
  const onMissing = (program: string): string => prepared.explainMissing(program);
  return runForModel(sandbox, prepared.command, context, { ...ADVICE, onMissing });
}

function explainMiss(asked: Json | undefined, own: string | undefined, others: readonly string[]): string {
  if (typeof asked !== "string") return "`skill` must say whose script it is.";
  const near = nearestNames(asked, [...(own === undefined ? [] : [own]), ...others]).map(showValue);
  const hint =
    near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "`list_skills` names those there are.";
  return `There is no skill ${showValue(asked)} whose scripts could be run here. ${hint}`;
}
