/**
 * Tool patterns that a person can allow for longer than one call: the program and its subcommand, a file's folder, an
 * address's domain. Offered only if the policy would then allow this call: what the machine's policy asks about, or
 * what no pattern can cover, is asked every time.
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

/** Wider ones first. */
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

/** `git log -3` becomes `git log:*`, `ls -l` becomes `ls:*`; any other command stays as it is. */
async function listCommandPatterns(command: string): Promise<readonly (readonly string[])[]> {
  const parsed = await readCommand(command);
  if (!parsed.provable || parsed.writes.length + parsed.reads.length > 0) return [];
  const opened = parsed.commands.map(openScope);
  const isExact = parsed.commands.every((words) => words.every((word) => PLAIN_WORD.test(word)));
  const exact = isExact ? [toPatterns(parsed.commands.map((words) => words.join(" ")))] : [];
  const isOpen = opened.every((scope) => scope !== undefined);
  return isOpen ? [toPatterns(opened), ...exact] : exact;
}

function toPatterns(scopes: readonly string[]): readonly string[] {
  return [...new Set(scopes.map((scope) => `bash(${scope})`))];
}

/**
 * Programs that only look, whatever the arguments; options that make one start another program or write a file are
 * refused when the pattern is checked. With any other program, other words do other things: a yes for `python3 a.py`
 * says nothing about `python3 -c …`.
 */
const LOOKING: ReadonlySet<string> = new Set(
  "ls cat head tail wc grep egrep fgrep rg find sort cut tr diff cmp stat file du df pwd date echo printf which jq basename dirname realpath readlink cd test true seq nl tac rev md5sum sha1sum sha256sum".split(
    " ",
  ),
);
/** The same by subcommand; tests belong to the project, whatever their arguments. */
const LOOKING_BELOW: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["git", new Set("status log diff show blame ls-files rev-parse describe shortlog".split(" "))],
  ["npm", new Set(["test", "ls", "outdated"])],
  ["pnpm", new Set(["test", "ls", "outdated"])],
  ["yarn", new Set(["test"])],
]);
/** `npm run` names a script in its next word. */
const NAMES_SCRIPT = /^(?:npm|pnpm|yarn|bun) run(?:-script)?$/;

function openScope([program = "", first = "", second = ""]: readonly string[]): string | undefined {
  if (LOOKING.has(program)) return `${program}:*`;
  const named = `${program} ${first}`;
  if (LOOKING_BELOW.get(program)?.has(first)) return `${named}:*`;
  return NAMES_SCRIPT.test(named) && PLAIN_WORD.test(second) ? `${named} ${second}:*` : undefined;
}

/** Only below the working directory: elsewhere, a run only writes to its own folders. */
function listPathPatterns(tool: string, path: unknown, cwd: string): readonly (readonly string[])[] {
  if (typeof path !== "string") return [];
  const location = resolve(cwd, path);
  if (!isInside(location, cwd) || /[*?[\]{}!\\()\p{C}]/u.test(location)) return [];
  const folder = relative(cwd, dirname(location));
  // For the working directory itself, only its files: everything below it would be everything.
  if (folder === "") return [[`${tool}(./*)`], [`${tool}(./${basename(location)})`]];
  return [[`${tool}(./${folder}/**)`], [`${tool}(./${folder}/${basename(location)})`]];
}
