import { CALLER_FLAGS } from "../caller-flags.ts";
import { type DeclaredCommand, defineCommand, manyArguments, switchFlag, textFlag } from "./define.ts";

export const script: DeclaredCommand = defineCommand({
  name: "script",
  group: "Doing",
  brief: "Run a script of a skill in its sandbox",
  description:
    "What the script writes goes to standard output and standard error as it comes; its standard input is that of this\ncommand, if something is piped in. Without a script, lists those of the skill. Needs no model. Exits 0 when the script\ndid, 1 when there is no such script, 3 when the skill is refused, 4 when the script was stopped at a limit, 5 when it\nended with another exit code, 6 when there is no sandbox or a program is missing, 130 when it was cancelled.",
  examples: [
    "metier script pdf",
    "metier script pdf scripts/extract.py report.pdf",
    "metier script pdf scripts/extract.py -- --pages 1-3 report.pdf",
    'echo \'{"city": "Oslo"}\' | metier script weather scripts/forecast.ts --json',
  ],
  flags: {
    stdin: textFlag("file", "What the script reads from standard input; - is what is piped in"),
    timeout: textFlag("seconds", "How long it may run (default: skills.script-timeout-ms)"),
    write: switchFlag("Let a script of a trusted skill change the working directory"),
    variables: textFlag("file", "Values for the variables the skill declares, as NAME=value lines"),
    ...CALLER_FLAGS,
  },
  positional: manyArguments(
    "skill",
    "The skill, its script, then arguments; options of the script after --",
    1,
  ),
  action: "script",
});
