/** How a table says which options of a program are refused, and the one reading of a command's words against it. */
export interface OptionRule {
  /** `--name`; every beginning of it counts too, since most programs accept abbreviations. */
  readonly long?: readonly string[];
  /** Long options that are sound although they are the beginning of a refused one. */
  readonly sound?: readonly string[];
  /** Letters; refused wherever they stand behind a single `-`, alone, in a cluster or with a value attached. */
  readonly short?: string;
  /** Whole words: `-exec`, a subcommand. With or without `=value` behind them. */
  readonly words?: readonly string[];
  /** Anything else that a word must not look like. */
  readonly matching?: RegExp;
  /** The first word is a cluster of letters even without `-`, as in `tar xf`. */
  readonly bundled?: true;
}

/**
 * The first word that the rule refuses. A word counts wherever it stands, also behind `--` or as the value of another
 * option: which of these holds cannot be told without knowing every option of the program.
 */
export function findRefusedWord(rule: OptionRule, args: readonly string[]): string | undefined {
  return args.find((word, index) => {
    const name = word.split("=", 1)[0] ?? "";
    return (
      rule.words?.includes(name) === true ||
      rule.matching?.test(word) === true ||
      isRefusedLong(rule, name) ||
      isRefusedCluster(rule, word, index)
    );
  });
}

function isRefusedLong({ long = [], sound = [] }: OptionRule, name: string): boolean {
  if (!name.startsWith("--") || name === "--" || sound.includes(name)) return false;
  return long.some((option) => option.startsWith(name));
}

function isRefusedCluster({ short = "", bundled }: OptionRule, word: string, index: number): boolean {
  const isCluster = /^-[^-]/.test(word) || (bundled === true && index === 0 && !word.startsWith("-"));
  return isCluster && [...short].some((letter) => word.includes(letter));
}
