/** The first line of a script, as the words that start it. Programs are looked up in the sandbox, by name. */
import { basename } from "node:path";
import { splitCommand } from "../../config/split-command.ts";

export interface Shebang {
  /** What must be there. */
  readonly program: string;
  /** The whole beginning of the command, before the script's path; `program` is one of its words. */
  readonly argv: readonly string[];
}

const FIRST_LINE = /^\uFEFF?#!([^\r\n]*)/;
/** `-S`, and what is written together with it. */
const SPLIT_OPTION = /^(?:-S|--split-string=?)\s*/;

/** `#!/usr/bin/env -S node --x` → `node --x`; `undefined` when the text has no such line, or it names no program. */
export function readShebang(text: string): Shebang | undefined {
  const [, line = ""] = FIRST_LINE.exec(text) ?? [];
  const [, path = "", rest = ""] = /^\s*(\S+)\s*(.*)$/.exec(line.trim()) ?? [];
  const program = basename(path);
  if (program === "") return undefined;
  return program === "env"
    ? readEnv(rest)
    : { program, argv: [program, ...rest.split(/\s+/).filter(Boolean)] };
}

/** With options or variables of its own, `env` itself is started; it knows them best. */
function readEnv(rest: string): Shebang | undefined {
  const words = splitCommand(rest.replace(SPLIT_OPTION, "")) ?? [];
  const named = words.find((word) => !(word.startsWith("-") || word.includes("=")));
  if (named === undefined) return undefined;
  const program = basename(named);
  const argv = words.with(words.indexOf(named), program);
  return { program, argv: argv[0] === program ? argv : ["env", ...argv] };
}
