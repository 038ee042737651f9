/**
 * `run_script`: runs one of the skill's own scripts in the sandbox of the run. Only a file of the skill, without a shell;
 * what interprets it follows from its first line or its ending.
 */
import { readSync } from "node:fs";
import { extname } from "node:path";
import { openContained, withContained } from "../host/open-contained.ts";
import { explainNoSandbox } from "./bash.ts";
import { describeOutcome } from "./describe-outcome.ts";
import { fault, type Tool, type ToolContext } from "./tool.ts";

const MAX_OUTPUT_BYTES = 1024 * 1024;

/** By ending, for scripts without a first line that says it. */
const INTERPRETERS: Readonly<Record<string, readonly string[]>> = {
  ".sh": ["sh"],
  ".bash": ["bash"],
  ".py": ["python3"],
  ".js": ["node"],
  ".mjs": ["node"],
  ".cjs": ["node"],
  ".ts": ["node"],
  ".mts": ["node"],
  ".rb": ["ruby"],
  ".pl": ["perl"],
};

interface ScriptInput {
  readonly script: string;
  readonly args?: readonly string[];
  readonly stdin?: string;
}

export function runScriptTool(timeoutMs: number): Tool {
  return {
    name: "run_script",
    description:
      "Runs a script of the skill in the sandbox, by its path in the skill's folder, and gives its exit code and output. Files are kept in `$METIER_WORK_DIR`.",
    inputSchema: {
      type: "object",
      properties: {
        script: {
          type: "string",
          minLength: 1,
          description: "Path in the skill's folder: `scripts/report.py`.",
        },
        args: { type: "array", items: { type: "string" }, maxItems: 100, description: "Its arguments." },
        stdin: { type: "string", description: "What it reads from standard input." },
      },
      required: ["script"],
      additionalProperties: false,
    },
    effect: "execute",
    async execute(input, context) {
      const { script, args = [], stdin } = input as unknown as ScriptInput;
      const { sandbox, world, env, signal } = context;
      if (!sandbox) return explainNoSandbox();
      const command = findCommand(script, context);
      if (!command.ok) return fault(command.message);
      const outcome = await sandbox.run({
        argv: [...command.argv, ...args],
        world,
        cwd: world.skillDir ?? world.cwd,
        env,
        signal,
        limits: { timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES },
        ...(stdin !== undefined && { stdin }),
      });
      return describeOutcome(outcome, timeoutMs, context);
    },
  };
}

type Found =
  | { readonly ok: true; readonly argv: readonly string[] }
  | { readonly ok: false; readonly message: string };

function findCommand(script: string, { world: { skillDir } }: ToolContext): Found {
  if (skillDir === undefined)
    return { ok: false, message: "This skill has no folder, so it has no scripts." };
  return withContained(openContained(skillDir, script), ({ descriptor, realPath }): Found => {
    const interpreter = readShebang(descriptor) ?? INTERPRETERS[extname(script).toLowerCase()];
    if (interpreter) return { ok: true, argv: [...interpreter, realPath] };
    const endings = Object.keys(INTERPRETERS).join(", ");
    return {
      ok: false,
      message: `Nothing says what runs \`${script}\`: it needs a first line like \`#!/usr/bin/env python3\`, or one of the endings ${endings}.`,
    };
  });
}

const MAX_FIRST_LINE = 256;

/** `#!/usr/bin/env -S node --x` → `node`, `--x`; programs are looked up in the sandbox, by name. */
function readShebang(descriptor: number): readonly string[] | undefined {
  const bytes = Buffer.alloc(MAX_FIRST_LINE);
  const head = bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, MAX_FIRST_LINE, 0));
  const [, line = ""] = /^#!([^\r\n]*)/.exec(head) ?? [];
  const [path = "", ...options] = line.trim().split(/\s+/);
  const words = path.endsWith("/env") ? options.filter((word) => word !== "-S") : [path, ...options];
  const [program = "", ...rest] = words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  return name === "" || name.startsWith("-") ? undefined : [name, ...rest];
}
