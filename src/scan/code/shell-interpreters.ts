/** Commands of the shell that execute text or files: shells and other interpreters, `eval`, `source`, programs by path. */
import type { ReadCommand, ShellWalk } from "./follow-shell.ts";
import { type Interpreter, interpreterOf } from "./shell-programs.ts";
import type { ShellWord } from "./shell-words.ts";
import { hasTaint, NO_TAINTS, type Taints, uniteTaints, withoutTaint } from "./taint.ts";

/** The marks of what it prints; `undefined` when it executes nothing. */
export function interpretScript(command: ReadCommand, walk: ShellWalk): Taints | undefined {
  const { program, words, name } = command;
  if (program === "eval") return runText(command, walk, words, "shell");
  if (/^(?:iex|Invoke-Expression)$/i.test(program)) {
    walk.record("run", command, uniteTaints(command.input, ...words.map(({ taints }) => taints)), {
      target: program,
    });
    return NO_TAINTS;
  }
  if (program === "osascript") return runAppleScript(command, walk);
  if (program === "source" || program === ".") return runFile(command, walk, words[0]);
  const interpreter = interpreterOf(program);
  if (interpreter) return runInterpreter(command, walk, interpreter);
  const own = walk.fileTaints(name.value);
  if (hasTaint(own, "remote", "decoded")) walk.record("run", command, own, { target: name.value });
  return undefined;
}

function runInterpreter(command: ReadCommand, walk: ShellWalk, { language, code }: Interpreter): Taints {
  const { words, given, input, program } = command;
  const at = words.findIndex(({ value }) => code.test(value));
  const text = at === -1 ? undefined : words[at + 1];
  if (text !== undefined) {
    if (language === "powershell" && /^-e/i.test(words[at]?.value ?? "")) {
      walk.record("run", command, new Set(["decoded"]), {
        target: program,
        content: decodePowershell(text.value),
      });
      return input;
    }
    return runText(command, walk, language === "powershell" ? words.slice(at + 1) : [text], language);
  }
  const script = words.find(({ value }) => !/^[-+]/.test(value) || value === "-");
  const readsInput =
    script === undefined ||
    script.value === "-" ||
    words.some(({ value }) => value === "-s") ||
    script.value === "/dev/stdin";
  if (!readsInput) return runFile(command, walk, script) ?? NO_TAINTS;
  if (words.some(({ value }) => /^(?:-m|-V|--version|-h|--help|-v)/.test(value))) return input;
  if (given !== undefined) {
    walk.record("run", command, given.taints, { target: program, content: given.value });
    return uniteTaints(input, walk.follow(command, language, given.value));
  }
  if (input.size > 0) walk.record("run", command, input, { target: program });
  return input;
}

function runText(
  command: ReadCommand,
  walk: ShellWalk,
  words: readonly ShellWord[],
  language: Interpreter["language"],
): Taints {
  const taints = withoutTaint(uniteTaints(...words.map((word) => word.taints)), "secret-path");
  const content = words.map(({ value }) => value).join(" ");
  walk.record("run", command, taints, { target: command.program, content });
  return uniteTaints(command.input, taints, walk.follow(command, language, content));
}

/** The commands that it gives to a shell. */
function runAppleScript(command: ReadCommand, walk: ShellWalk): Taints {
  const code = [...command.words, ...(command.given ? [command.given] : [])]
    .map(({ value }) => value)
    .join("\n");
  const commands = [...code.matchAll(/do shell script\s+"((?:[^"\\]|\\.)*)"/g)];
  const outputs = commands.map(([, text = ""]) =>
    walk.follow(command, "shell", text.replace(/\\(.)/g, "$1")),
  );
  return uniteTaints(...outputs);
}

function runFile(command: ReadCommand, walk: ShellWalk, file: ShellWord | undefined): Taints | undefined {
  if (file === undefined) return undefined;
  const taints = uniteTaints(walk.fileTaints(file.value), file.expands ? file.taints : NO_TAINTS);
  if (hasTaint(taints, "remote", "decoded")) walk.record("run", command, taints, { target: command.program });
  return command.input;
}

/** `-EncodedCommand` takes UTF-16 in base64. */
function decodePowershell(text: string): string {
  return Buffer.from(text, "base64").toString("utf16le").slice(0, 4096);
}
