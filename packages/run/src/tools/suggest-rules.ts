/**
 * Tool patterns that a person can allow for longer than one call, instead of the very same call alone: the program and its
 * subcommand, the folder of a file, the domain of an address. Offered only when the policy would then allow this call:
 * what a policy of the machine asks about, or what no pattern can be held against, is asked about every time.
 */
import { basename, dirname, relative, resolve } from "node:path";
import { isInside } from "@metier/base/places";
import { readCommand } from "@metier/sandbox/shell";
import type { ToolEffect, ToolInput } from "./tool.ts";
import type { ToolPolicy } from "./tool-policy.ts";

interface AskedCall {
  readonly tool: string;
  readonly effect: ToolEffect;
  readonly input: ToolInput;
}

/** A person reads each of them. */
const MOST_RULES = 3;

export async function suggestRules(
  call: AskedCall,
  cwd: string,
  policy: ToolPolicy,
): Promise<readonly string[]> {
  if (policy.allowing === undefined) return [];
  for (const patterns of await listCandidates(call, cwd)) {
    if (patterns.length === 0 || patterns.length > MOST_RULES) continue;
    const decision = await policy.allowing(patterns).decide(call.tool, call.effect, call.input);
    if (decision.answer === "allow") return patterns;
  }
  return [];
}

/** The wider ones first. */
async function listCandidates(
  { tool, input }: AskedCall,
  cwd: string,
): Promise<readonly (readonly string[])[]> {
  switch (tool) {
    case "bash":
      return listCommandPatterns(typeof input.command === "string" ? input.command : "");
    case "write_file":
    case "edit_file":
    case "read_file":
      return listPathPatterns(tool, input.path, cwd);
    case "web_fetch": {
      const host = typeof input.url === "string" ? URL.parse(input.url)?.hostname : undefined;
      return host ? [[`web_fetch(domain:${host})`]] : [];
    }
    case "use_skill":
      return typeof input.skill === "string" && PLAIN_WORD.test(input.skill)
        ? [[`use_skill(${input.skill})`]]
        : [];
    default:
      return [[tool]];
  }
}

const PLAIN_WORD = /^[\w.@%+:=,-]+$/;
const SUBCOMMAND = /^[a-z][a-z0-9-]*$/;

/** `git log -3` becomes `git log:*`, `ls -l` becomes `ls:*`; or the words as they are, where more may follow is too much. */
async function listCommandPatterns(command: string): Promise<readonly (readonly string[])[]> {
  const parsed = await readCommand(command);
  if (!parsed.provable || parsed.writes.length + parsed.reads.length > 0) return [];
  const patternsBy = (toScope: (words: readonly string[]) => string): readonly string[] => [
    ...new Set(parsed.commands.map((words) => `bash(${toScope(words)})`)),
  ];
  const exact = parsed.commands.every((words) => words.every((word) => PLAIN_WORD.test(word)))
    ? [patternsBy((words) => words.join(" "))]
    : [];
  return parsed.commands.some(destroys) ? exact : [patternsBy(openScope), ...exact];
}

/** Programs with which other words do other harm: a yes for one call says nothing about the next. */
const DESTROYING: ReadonlySet<string> = new Set(
  "rm rmdir unlink mv cp dd shred truncate ln install chmod chown chgrp kill pkill killall".split(" "),
);
const DESTROYING_GIT: ReadonlySet<string> = new Set(
  "push reset clean checkout restore rm rebase branch tag stash filter-branch update-ref gc".split(" "),
);

function destroys([program = "", first = ""]: readonly string[]): boolean {
  return DESTROYING.has(basename(program)) || (basename(program) === "git" && DESTROYING_GIT.has(first));
}

/** `npm run` names a script by its next word. */
const NAMES_SCRIPT = /^(?:npm|pnpm|yarn|bun) run(?:-script)?$/;

function openScope([program = "", first = "", second = ""]: readonly string[]): string {
  const named = SUBCOMMAND.test(first) ? `${program} ${first}` : program;
  return `${NAMES_SCRIPT.test(named) && PLAIN_WORD.test(second) ? `${named} ${second}` : named}:*`;
}

/** Only below the working directory: what is written elsewhere is written to the run's own folders. */
function listPathPatterns(tool: string, path: unknown, cwd: string): readonly (readonly string[])[] {
  if (typeof path !== "string") return [];
  const location = resolve(cwd, path);
  if (!isInside(location, cwd) || /[*?[\]{}!\\()\p{C}]/u.test(location)) return [];
  const folder = relative(cwd, dirname(location));
  const file = folder === "" ? basename(location) : `${folder}/${basename(location)}`;
  return [[`${tool}(./${folder === "" ? "**" : `${folder}/**`})`], [`${tool}(./${file})`]];
}
