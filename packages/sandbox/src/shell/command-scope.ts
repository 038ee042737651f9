/**
 * The scope of a shell pattern (`git:*`, `git log:*`, `npm run test`, `git status *`), and whether it covers a simple
 * command. A scope is words, compared one by one; a trailing `:*` or separate `*` stands for any further words. An
 * allow rule must be proven to match; a deny rule applies unless it is proven not to match. Both check whether a
 * command does no more than its first word says.
 */
import { done, type Result, refused } from "@metier/base/result";
import { readLiteralWord } from "./command-text.ts";
import { findRefusedOption, listWords } from "./launching-options.ts";
import type { CommandWords } from "./read-command.ts";

export interface CommandScope {
  /** At least one; the first is the program, exactly as a command must write it. */
  readonly words: readonly string[];
  /** Further words may follow. */
  readonly isOpen: boolean;
}

/** The reason starts in lowercase and has no period. */
type ScopeReading = Result<CommandScope, string>;

const PROGRAM = /^[A-Za-z0-9_./+@%[-]+$/;
const WORD = /(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g;
const OPEN_END = /(?::\*|\s+\*)$/;

/** Reads a scope for deny rules: the words must be clear, but may name any program. */
export function readCommandScope(text: string): ScopeReading {
  const isOpen = OPEN_END.test(text);
  const listed = text.replace(OPEN_END, "");
  const written = listed.match(WORD) ?? [];
  if (listed.replace(WORD, "").trim() !== "") return refused("a quote is not closed");
  const words: string[] = [];
  for (const word of written) {
    const reading = readLiteralWord(word);
    if (!reading.ok) return reading;
    words.push(reading.value);
  }
  const [program = ""] = words;
  if (!PROGRAM.test(program)) return refused(`\`${program}\` is not a program name`);
  return done({ words, isOpen });
}

/** For an allow rule: the words must not name what never matches. */
export function readAllowingScope(text: string): ScopeReading {
  const reading = readCommandScope(text);
  if (!reading.ok) return reading;
  const { words, isOpen } = reading.value;
  const reason = checkProgram(isOpen ? completed(words) : words);
  return reason === undefined ? reading : refused(reason);
}

/** `git config:*` is acceptable here: some of what may follow only reads. */
function completed(words: readonly string[]): readonly string[] {
  return words[0] === "git" && words[1] === "config" ? [...words, "--list"] : words;
}

/** `undefined` if the scope covers the command. */
export function whyNotCovered(words: CommandWords, scope: CommandScope): string | undefined {
  const compared = scope.isOpen ? words.slice(0, scope.words.length) : words;
  if (!isSame(scope.words, compared)) return `\`${words.join(" ")}\` matches no pattern`;
  return checkProgram(words);
}

/**
 * Whether a deny scope may apply. The program is compared by its last path segment; the other words in any position,
 * since options may be in between; and if the pattern has an option, any option may be another spelling of it. A
 * command that may start others may start this one.
 */
export function mayMatchCommand(words: CommandWords, scope: CommandScope): boolean {
  if (checkProgram(words) !== undefined) return true;
  const [program = "", ...wanted] = scope.words;
  const [started = "", ...given] = words;
  if (programName(started) !== programName(program)) return false;
  return scope.isOpen ? areAmong(wanted, given) : isSame(wanted, given);
}

function areAmong(wanted: readonly string[], given: readonly string[]): boolean {
  const hasOptions = given.some((word) => word.startsWith("-"));
  return wanted.every((word) => given.includes(word) || (word.startsWith("-") && hasOptions));
}

function isSame(wanted: readonly string[], given: readonly string[]): boolean {
  return wanted.length === given.length && wanted.every((word, index) => given[index] === word);
}

/** Why it may start another program, load code or write a file; `undefined` if the tables list nothing. */
function checkProgram([program = "", ...args]: CommandWords): string | undefined {
  const name = programName(program);
  const why = whyUnprovable(name);
  if (why !== undefined) return `\`${program}\` ${why}`;
  const isSed = name === "sed" || name === "gsed";
  const refused = isSed ? findRefusedInSed(args) : findRefusedOption(name, args);
  return refused === undefined
    ? undefined
    : `\`${refused}\` can make \`${program}\` start another program, load code or write a file`;
}

/** `/usr/bin/git` and `git.exe` are `git` to the tables. */
function programName(program: string): string {
  const base = program.slice(program.lastIndexOf("/") + 1).toLowerCase();
  return base.endsWith(".exe") ? base.slice(0, -4) : base;
}

/**
 * First words that never match a scoped pattern, because their words do not show what they do: they start other
 * programs, run their own language, or change what later words mean.
 */
const UNPROVABLE: Readonly<Record<string, string>> = {
  "is a shell":
    "bash sh dash zsh ksh mksh fish csh tcsh ash rbash busybox toybox pwsh powershell cmd nu xonsh",
  "starts another program": `
    env xargs sudo sudoedit doas su runuser pkexec nohup time timeout nice ionice chroot setsid stdbuf unbuffer
    strace ltrace gdb lldb valgrind perf watch parallel sem script flock unshare nsenter bwrap firejail setpriv capsh
    chrt taskset setarch linux32 linux64 i386 x86_64 arch numactl prlimit ld.so systemd-run at batch crontab tmux
    screen dtach expect entr start-stop-daemon daemonize run-parts sshpass proxychains proxychains4 torify torsocks
    eatmydata fakeroot faketime dbus-run-session xvfb-run rlwrap socat caffeinate open xdg-open osascript mosh
    supervise setuidgid s6-setuidgid chpst gosu su-exec tini dumb-init direnv nix-shell`,
  "lets its user start any program": `
    vi vim nvim view vimdiff rvim ex ed emacs emacsclient nano pico less more most man info mc ranger
    sftp ftp lftp mail mailx mutt telnet`,
  "has its own language that can start programs":
    "awk gawk mawk nawk original-awk sqlite3 psql mysql mariadb mongosh redis-cli dc m4 gnuplot octave jshell",
  "is a builtin that changes the shell's state": `
    . source alias bg bind builtin caller command compgen complete compopt coproc declare dirs disown enable
    eval exec export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly
    return set shift shopt suspend times trap typeset ulimit umask unalias unset wait`,
  "is a shell keyword":
    "if then elif else fi case esac for select while until do done in function [[ ]] { } ! (( ))",
};

/** Why the program never matches, as the end of a sentence that starts with its name. */
function whyUnprovable(program: string): string | undefined {
  if (/^ld-linux/.test(program)) return "starts another program";
  return Object.entries(UNPROVABLE).find(([, programs]) => listWords(programs).includes(program))?.[0];
}

/**
 * Which `sed` calls certainly only read and print: known options, and scripts of plain commands. The commands `e`, `w`,
 * `r` and their flags start programs or touch files, so they are not in this grammar.
 */
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/[IM]?)`;
const RANGE = String.raw`(?:${ADDRESS}(?:,(?:${ADDRESS}|[+~]\d+))?\s*(?:!\s*)?)?`;
const SUBSTITUTE = String.raw`s([/|#,:%@])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiImM0-9]*`;
const COMMAND = String.raw`[\s;]*${RANGE}(?:[pPdDnNgGhHx=l]|[qQ]\d*|${SUBSTITUTE})[ \t]*(?:[;\n]|$)`;

/** Longer scripts are not read. */
const MAX_SCRIPT = 2000;
const FLAGS = /^-[nErsuz]+$/;
/** The next word is a script. */
const EXPRESSION = /^(?:-[nErsuz]*e|--expression)$/;
const LONG_FLAGS =
  "--quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --sandbox --debug";

/** The word that makes the call uncertain. */
function findRefusedInSed(args: readonly string[]): string | undefined {
  let hasScript = false;
  let isExpression = false;
  for (const word of args) {
    const isOption: boolean = !isExpression && word.startsWith("-") && word.length > 1;
    const isScript: boolean = isExpression || (!isOption && !hasScript);
    if (isScript && !isPlainScript(word)) return word;
    if (isOption && !isSoundOption(word)) return word;
    hasScript ||= isScript;
    isExpression = isOption && EXPRESSION.test(word);
  }
  return undefined;
}

function isSoundOption(word: string): boolean {
  return FLAGS.test(word) || EXPRESSION.test(word) || listWords(LONG_FLAGS).includes(word);
}

function isPlainScript(script: string): boolean {
  if (script.length > MAX_SCRIPT) return false;
  const command = new RegExp(COMMAND, "y");
  while (script.slice(command.lastIndex).trim() !== "") if (!command.test(script)) return false;
  return true;
}
