/**
 * What stands in parentheses behind a tool's name, as something that can be held against a call. Which tools have
 * scopes, and on which input, is here; a scope that cannot be held is said so and never guessed.
 */
import { compileGlob } from "../foundation/glob-pattern.ts";
import { type CommandScope, readAllowingScope, readCommandScope } from "../shell/command-scope.ts";
import { mayMatchCommand, whyNotCovered } from "../shell/match-command.ts";
import type { CommandWords } from "../shell/parsed-command.ts";
import { readPathScope } from "./policy-paths.ts";
import type { ToolInput } from "./tool.ts";

/** What a rule decides on: the input of a call, or one simple command of a shell call. */
export type CallPart =
  | { readonly kind: "input"; readonly input: ToolInput }
  | { readonly kind: "command"; readonly words: CommandWords }
  /** A shell call of which nothing is certain. */
  | { readonly kind: "unprovable"; readonly reason: string };

export interface CallScope {
  /** Why the part is not certainly covered; `undefined` when it is. */
  whyNot(part: CallPart): string | undefined;
  /** It is not certain that the part is not meant. */
  mayMatch(part: CallPart): boolean;
  /** Of two scopes of one tool, the heavier one is more specific. */
  readonly weight: number;
}

export type CallScopeReading =
  | { readonly ok: true; readonly scope: CallScope }
  | { readonly ok: false; readonly reason: string };

export interface ScopeContext {
  readonly cwd: string;
  /** An allowing scope must not name what can never be proven; a denying one may name anything. */
  readonly use: "allow" | "deny";
}

/** Tools whose scope is a path, and whether the path is a folder whose contents are meant. */
const PATH_TOOLS: ReadonlyMap<string, boolean> = new Map([
  ["read_file", false],
  ["write_file", false],
  ["edit_file", false],
  ["list_files", true],
  ["grep_search", true],
]);

export function readCallScope(tool: string, text: string, context: ScopeContext): CallScopeReading {
  if (tool === "bash") return readShellScope(text, context);
  if (PATH_TOOLS.has(tool)) return readFileScope(tool, text, context);
  if (tool === "web_fetch") return readDomainScope(text);
  if (tool === "use_skill") return readSkillScope(text);
  return { ok: false, reason: `calls of \`${tool}\` have nothing that a scope could be held against` };
}

function readShellScope(text: string, { use }: ScopeContext): CallScopeReading {
  const reading = use === "allow" ? readAllowingScope(text) : readCommandScope(text);
  if (!reading.ok) return reading;
  const scope: CommandScope = reading.scope;
  return {
    ok: true,
    scope: {
      weight: 2 * scope.words.length + (scope.isOpen ? 0 : 1),
      whyNot: (part) => (part.kind === "command" ? whyNotCovered(part.words, scope) : reasonOf(part)),
      mayMatch: (part) => part.kind !== "command" || mayMatchCommand(part.words, scope),
    },
  };
}

function readFileScope(tool: string, text: string, { cwd }: ScopeContext): CallScopeReading {
  const reading = readPathScope(text, cwd);
  if (!reading.ok) return reading;
  const { scope } = reading;
  const isFolder = PATH_TOOLS.get(tool) === true;
  return {
    ok: true,
    scope: {
      weight: 1 + scope.weight,
      whyNot(part) {
        const path = pathOf(part, isFolder);
        if (path === undefined) return "the call names no path that is certain";
        return scope.covers(path) ? undefined : `\`${path}\` is outside of \`${text}\``;
      },
      mayMatch(part) {
        const path = pathOf(part, isFolder);
        return path === undefined || scope.mayCover(path, isFolder);
      },
    },
  };
}

/** A search without a path is about the working directory. A pattern that leads elsewhere makes its path uncertain. */
function pathOf(part: CallPart, isFolder: boolean): string | undefined {
  if (part.kind !== "input") return undefined;
  const { path = isFolder ? "." : undefined, pattern, glob } = part.input;
  const leadsAway = [pattern, glob].some(
    (text) => typeof text === "string" && /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(text),
  );
  return typeof path === "string" && path !== "" && !(isFolder && leadsAway) ? path : undefined;
}

/** `domain:example.com` that host, `domain:*.example.com` those below it. Denying `example.com` also means those below. */
function readDomainScope(text: string): CallScopeReading {
  const [, star, name] = /^domain:(\*\.)?([^\s*/:@?#]+)$/i.exec(text) ?? [];
  const domain = name === undefined ? undefined : hostOf(`https://${name}/`);
  if (domain === undefined)
    return { ok: false, reason: "a scope of `web_fetch` is written `domain:example.com`" };
  const isBelow = (host: string): boolean => host.endsWith(`.${domain}`);
  return {
    ok: true,
    scope: {
      weight: star === undefined ? 2 : 1,
      whyNot(part) {
        const host = part.kind === "input" ? hostOf(part.input.url) : undefined;
        const isCovered = host !== undefined && (star === undefined ? host === domain : isBelow(host));
        return isCovered ? undefined : `the address is not of \`${text.slice("domain:".length)}\``;
      },
      mayMatch(part) {
        const host = part.kind === "input" ? hostOf(part.input.url) : undefined;
        return host === undefined || host === domain || isBelow(host);
      },
    },
  };
}

/** As URLs have it: lower case, punycode, without the dot at the end. */
function hostOf(url: unknown): string | undefined {
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  const isWeb = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  return isWeb ? parsed.hostname.replace(/\.$/, "") || undefined : undefined;
}

/** `use_skill(deploy)`, `use_skill(git-*)`; `:*` behind it stands for any arguments, which a scope does not limit. */
function readSkillScope(text: string): CallScopeReading {
  const name = text.replace(/(?::\*|\s+\*)$/, "");
  const matches = compileGlob(name);
  const skillOf = (part: CallPart): unknown => (part.kind === "input" ? part.input.skill : undefined);
  return {
    ok: true,
    scope: {
      weight: name.includes("*") ? 1 : 2,
      whyNot(part) {
        const skill = skillOf(part);
        return typeof skill === "string" && matches(skill) ? undefined : `only \`${text}\` is named`;
      },
      mayMatch(part) {
        const skill = skillOf(part);
        if (typeof skill !== "string") return true;
        // `project:deploy` addresses a skill named `deploy`.
        return [skill, skill.slice(skill.indexOf(":") + 1)].some(
          (given) => matches(given) || matches(given.toLowerCase()),
        );
      },
    },
  };
}

function reasonOf(part: CallPart): string {
  return part.kind === "unprovable" ? part.reason : "it is no command";
}
