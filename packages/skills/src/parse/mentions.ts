/**
 * Finds files that a body names without linking to them: `references/x.md` in backticks, `scripts/x.py` in a sentence
 * or after an interpreter in a code block. Only paths that look like the skill's own: in one of the usual skill
 * folders, with an extension, and without any sign of a placeholder, an example or a file to be written. Does not read
 * the disk.
 */

interface Mention {
  /** In the skill's folder. */
  readonly path: string;
  /** 1-based, within the body. */
  readonly line: number;
}

const FENCE = /^\s{0,12}(`{3,}|~{3,})\s*([\w+-]*)/;
/** Languages of code blocks with commands. */
const SHELLS: ReadonlySet<string> = new Set(["", "sh", "bash", "shell", "zsh", "console", "terminal"]);
const LONGEST_LINE = 4000;

/** The first `most` of them, each path once. One pass over the lines; skips lines too long to be prose. */
export function findMentions(body: string, most: number = Number.POSITIVE_INFINITY): readonly Mention[] {
  if (!mayName(body)) return [];
  const found = new Map<string, Mention>();
  let fence = "";
  let isShell = false;
  for (const [index, line] of body.split("\n").entries()) {
    const [, mark, language = ""] = FENCE.exec(line) ?? [];
    if (fence !== "") {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = "";
      else if (isShell) add(commandPaths(line), index);
    } else if (mark !== undefined) {
      fence = mark;
      isShell = SHELLS.has(language.toLowerCase());
    } else {
      add(prosePaths(line), index);
    }
    if (found.size >= most) break;
  }
  return [...found.values()].slice(0, most);

  function add(paths: readonly string[], index: number): void {
    for (const path of paths) if (!found.has(path)) found.set(path, { path, line: index + 1 });
  }
}

/** The folders of the published layout. Others, such as `templates`, are as often the reader's project's. */
const OWN_PATH =
  /^(?:\.\/|\$\{?(?:CLAUDE_)?SKILL_(?:DIR|ROOT|PATH)\}?\/|\{(?:baseDir|skillDir|SKILL_DIR)\}\/)?((?:references?|scripts|assets)\/[\w@.-]+(?:\/[\w@.-]+)*\.[A-Za-z][A-Za-z0-9]{0,7})$/;
/** Names that stand for any name. */
const PLACEHOLDER =
  /(?:^|[/._-])(?:x{1,3}|y|z|n|a|b|c|foo|bar|baz|name|your|my|some|example|sample|file|script|helper|topic|placeholder|filename)(?=[/._-]|$)|YYYY|NNN|\.\.|_{3}/i;
/** A sentence about something other than a file of this skill. */
const ELSEWHERE =
  /\b(?:creat\w*|writ(?:e|es|ing|ten)|generat\w*|sav(?:e|es|ed|ing)|output\w*|produc\w*|add(?:s|ed|ing)?|mov(?:e|es|ed|ing)|renam\w*|extract\w*|split\w*|put|stor(?:e|es|ed)|e\.g\.|i\.e\.|examples?|such as|like|for instance|would|could|might|should have|if (?:it|they|there|present|available|any)|if exists?|optional(?:ly)?|when present|repo(?:sitory)?(?:'s)?|project(?:'s)?|codebase|workspace|app(?:'s)?|theme|plugin|upstream|missing|removed|deprecated|never|don't|do not|no longer|instead of)\b|[✗✘❌]|例如|比如|示例|创建|生成|\bnot\b|→|=>|[├└│]/i;

function prosePaths(line: string): readonly string[] {
  if (!mayName(line) || line.length > LONGEST_LINE || ELSEWHERE.test(line)) return [];
  // Links are checked as links.
  const text = line.replace(/\[[^[\]]{0,300}\]\([^()]{0,500}\)/g, " ").replace(/[`"'“”‘’()[\]<>,;*|]+/g, " ");
  return pathsIn(text.split(/\s+/));
}

const INTERPRETERS: ReadonlySet<string> = new Set(
  "python python3 node bash sh zsh ruby perl deno bun tsx ts-node uv npx source .".split(" "),
);
const SUBCOMMANDS: ReadonlySet<string> = new Set([
  "run",
  "tsx",
  "ts-node",
  "python",
  "python3",
  "-u",
  "-m",
  "node",
]);

/** What is started: a command's first word, or an interpreter's first argument. */
function commandPaths(line: string): readonly string[] {
  if (!mayName(line) || line.length > LONGEST_LINE || /#.*\b(?:example|your)\b|[├└│]/i.test(line)) return [];
  const started = line.split(/&&|\|\|?|;/).flatMap((command) => {
    const words = command
      .trim()
      .replace(/^\$\s+/, "")
      .replace(/["']/g, "")
      .split(/\s+/);
    const [first = ""] = words;
    if (!INTERPRETERS.has(first)) return [first];
    return words.slice(1).find((word) => !SUBCOMMANDS.has(word) && !word.startsWith("--")) ?? [];
  });
  return pathsIn(started.filter((word) => /scripts\//.test(word)));
}

/** The cheap check first: most bodies and most lines name nothing. */
function mayName(text: string): boolean {
  return (
    text.includes("references/") ||
    text.includes("reference/") ||
    text.includes("scripts/") ||
    text.includes("assets/")
  );
}

function pathsIn(words: readonly string[]): readonly string[] {
  return words.flatMap((word) => {
    const path = OWN_PATH.exec(word.replace(/[.:!?]+$/, ""))?.[1];
    return path === undefined || PLACEHOLDER.test(path) ? [] : [path];
  });
}
