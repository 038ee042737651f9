/**
 * Checks calls against the part in parentheses after a tool's name. Defines which tools have scopes, and on which
 * input; a scope that can't be enforced is reported, never guessed. An allowing rule reads a path narrowly: inside the
 * working directory, as written and where it really leads. A denying rule reads it widely.
 */
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isInside } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { compileGlob } from "@metier/base/text";
import {
  type CommandScope,
  type CommandWords,
  mayMatchCommand,
  readAllowingScope,
  readCommandScope,
  whyNotCovered,
} from "@metier/sandbox/shell";
import { compilePathGlob } from "./files/paths.ts";
import type { ToolInput } from "./tool.ts";

/** What a rule decides on: a call's input, or one simple command of a shell call. */
export type CallPart =
  | { readonly kind: "input"; readonly input: ToolInput }
  | { readonly kind: "command"; readonly words: CommandWords }
  /** A shell call of which nothing is certain. */
  | { readonly kind: "unprovable"; readonly reason: string };

export interface CallScope {
  /** Why the part isn't certainly covered; `undefined` if it is. */
  whyNot(part: CallPart): string | undefined;
  /** The part may be meant. */
  mayMatch(part: CallPart): boolean;
  /** If one tool has two scopes, the heavier one is more specific. */
  readonly weight: number;
}

/** The refusal says why it can't be enforced, in lowercase. */
type CallScopeReading = Result<CallScope, string>;

interface ScopeContext {
  readonly cwd: string;
  /** An allowing scope must not name what can never be proven; a denying one may name anything. */
  readonly use: "allow" | "deny";
}

/** Tools whose scope is a path, and whether the path is a folder with everything in it. */
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
  return refused(`calls of \`${tool}\` have nothing that a scope can match`);
}

function readShellScope(text: string, { use }: ScopeContext): CallScopeReading {
  const reading = use === "allow" ? readAllowingScope(text) : readCommandScope(text);
  if (!reading.ok) return refused(reading.refusal);
  const scope: CommandScope = reading.value;
  return done({
    weight: 2 * scope.words.length + (scope.isOpen ? 0 : 1),
    whyNot: (part) => (part.kind === "command" ? whyNotCovered(part.words, scope) : reasonOf(part)),
    mayMatch: (part) => part.kind !== "command" || mayMatchCommand(part.words, scope),
  });
}

function readFileScope(tool: string, text: string, { cwd }: ScopeContext): CallScopeReading {
  const reading = readPathScope(text, cwd);
  if (!reading.ok) return reading;
  const scope = reading.value;
  const isFolder = PATH_TOOLS.get(tool) === true;
  return done({
    weight: 1 + scope.weight,
    whyNot(part) {
      const path = pathOf(part, isFolder);
      if (path === undefined) return "the path of this call is unclear";
      return scope.covers(path) ? undefined : `\`${path}\` is outside \`${text}\``;
    },
    mayMatch(part) {
      const path = pathOf(part, isFolder);
      return path === undefined || scope.mayCover(path, isFolder);
    },
  });
}

/** A search without a path is in the working directory. A pattern that leads elsewhere makes its path uncertain. */
function pathOf(part: CallPart, isFolder: boolean): string | undefined {
  if (part.kind !== "input") return undefined;
  const { path = isFolder ? "." : undefined, pattern, glob } = part.input;
  const leadsAway = [pattern, glob].some(
    (text) => typeof text === "string" && /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(text),
  );
  return typeof path === "string" && path !== "" && !(isFolder && leadsAway) ? path : undefined;
}

/**
 * `domain:example.com` is that host, `domain:*.example.com` those below it. Denying `example.com` includes those below.
 */
function readDomainScope(text: string): CallScopeReading {
  const [, star, name] = /^domain:(\*\.)?([^\s*/:@?#]+)$/i.exec(text) ?? [];
  const domain = name === undefined ? undefined : hostOf(`https://${name}/`);
  if (domain === undefined) return refused("write a scope of `web_fetch` as `domain:example.com`");
  const isBelow = (host: string): boolean => host.endsWith(`.${domain}`);
  return done({
    weight: star === undefined ? 2 : 1,
    whyNot(part) {
      const host = part.kind === "input" ? hostOf(part.input.url) : undefined;
      const isCovered = host !== undefined && (star === undefined ? host === domain : isBelow(host));
      return isCovered ? undefined : `the address is not on \`${text.slice("domain:".length)}\``;
    },
    mayMatch(part) {
      const host = part.kind === "input" ? hostOf(part.input.url) : undefined;
      return host === undefined || host === domain || isBelow(host);
    },
  });
}

/** As in URLs: lowercase, punycode, without a trailing dot. */
function hostOf(url: unknown): string | undefined {
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  const isWeb = parsed?.protocol === "https:" || parsed?.protocol === "http:";
  return isWeb ? parsed.hostname.replace(/\.$/, "") || undefined : undefined;
}

/** `use_skill(deploy)`, `use_skill(git-*)`; a trailing `:*` stands for any arguments, which a scope doesn't limit. */
function readSkillScope(text: string): CallScopeReading {
  const name = text.replace(/(?::\*|\s+\*)$/, "");
  const matches = compileGlob(name);
  const skillOf = (part: CallPart): unknown => (part.kind === "input" ? part.input.skill : undefined);
  return done({
    weight: name.includes("*") ? 1 : 2,
    whyNot(part) {
      const skill = skillOf(part);
      return typeof skill === "string" && matches(skill) ? undefined : `only \`${text}\` is allowed`;
    },
    mayMatch(part) {
      const skill = skillOf(part);
      if (typeof skill !== "string") return true;
      // `project:deploy` addresses a skill named `deploy`.
      return [skill, skill.slice(skill.indexOf(":") + 1)].some(
        (given) => matches(given) || matches(given.toLowerCase()),
      );
    },
  });
}

function reasonOf(part: CallPart): string {
  return part.kind === "unprovable" ? part.reason : "it is not a command";
}

interface PathScope {
  /** Certainly meant. */
  covers(path: string): boolean;
  /** Perhaps meant: by another spelling, through a link, or as something below. `isFolder`: its contents count too. */
  mayCover(path: string, isFolder: boolean): boolean;
  /** The more of it is literal, the more specific it is. */
  readonly weight: number;
}

const GLOB_CHARACTER = /[*?[{\\]/;

/** The refusal says why it can't be enforced, in lowercase. */
function readPathScope(written: string, cwd: string): Result<PathScope, string> {
  const pattern = written.replace(/^\/\//, "/").replace(/\/$/, "/**");
  const fault = checkPattern(pattern);
  if (fault !== undefined) return refused(fault);
  const segments = pattern.split("/");
  const firstGlob = segments.findIndex((segment) => GLOB_CHARACTER.test(segment));
  const literal = firstGlob === -1 ? segments : segments.slice(0, firstGlob);
  const start = resolve(cwd, literal.join("/") || (pattern.startsWith("/") ? "/" : "."));
  const isName = !pattern.includes("/");
  const narrow = matcherOf(pattern, cwd);
  const wide = matcherOf(foldCase(pattern), foldCase(cwd));
  const wideFromHere = pattern.startsWith("/") ? matcherOf(foldCase(`.${pattern}`), foldCase(cwd)) : wide;
  return done({
    weight: literal.filter((segment) => segment !== "" && segment !== ".").length,
    covers(path) {
      const asked = resolve(cwd, path);
      return narrow(asked) && narrow(realTarget(asked));
    },
    mayCover(path, isFolder) {
      const asked = resolve(cwd, path);
      const target = realTarget(asked);
      const real = realTarget(start);
      if (isFolder && (isName || isInside(start, asked) || isInside(real, target))) return true;
      // The scope starts at a link: everything where it leads counts.
      if (real !== start && isInside(target, real)) return true;
      return [asked, target].some((candidate) =>
        withAncestors(foldCase(candidate)).some((step) =>
          isName ? compilePathGlob(foldCase(pattern))(step) : wide(step) || wideFromHere(step),
        ),
      );
    },
  });
}

function checkPattern(pattern: string): string | undefined {
  if (pattern.startsWith("~")) return "runs do not see home folders";
  if (pattern.startsWith("!")) return "a path pattern cannot be negated";
  if (pattern.includes("\\")) return "a path pattern has no escapes";
  if (pattern.split("/").includes("..")) return "a path pattern cannot go up with `..`";
  return undefined;
}

/** The pattern and the paths get the same first segment, so that `./a.md` is that file and not every `a.md`. */
function matcherOf(pattern: string, cwd: string): (path: string) => boolean {
  if (pattern.startsWith("/")) {
    const matches = compilePathGlob(`root${pattern}`);
    return (path) => matches(`root${path}`);
  }
  const isName = !pattern.includes("/");
  const matches = compilePathGlob(isName ? pattern : `here/${pattern.replace(/^\.\//, "")}`);
  return (path) => isInside(path, cwd) && matches(`here/${relative(cwd, path)}`.replace(/\/$/, ""));
}

/** Some file systems don't distinguish them. */
function foldCase(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

function withAncestors(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [path] : [path, ...withAncestors(above)];
}

/** Where a path leads, with links resolved; a missing part is taken as written below the existing one. */
function realTarget(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Missing or unreadable: then its parent decides.
    const above = dirname(path);
    return above === path ? path : join(realTarget(above), basename(path));
  }
}
