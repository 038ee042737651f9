/**
 * What of `git` a scoped pattern may cover. Options before the subcommand can replace every program git starts, so
 * only those listed here are accepted there; a subcommand must be one of git's own that starts nothing of the
 * caller's choice, since any other word is an alias or a program named `git-<word>`.
 */
import { findRefusedWord, type OptionRule } from "./option-rule.ts";

/** Not `-C`, `--git-dir` or `--work-tree`: another repository has another configuration, which names programs. */
const SOUND_GLOBALS: ReadonlySet<string> = new Set([
  "--no-pager",
  "-P",
  "--version",
  "-v",
  "--no-optional-locks",
  "--no-replace-objects",
  "--no-lazy-fetch",
  "--no-advice",
  "--literal-pathspecs",
  "--glob-pathspecs",
  "--noglob-pathspecs",
  "--icase-pathspecs",
]);

const SUBCOMMANDS: ReadonlySet<string> = new Set(
  `add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
  check-ref-format checkout checkout-index cherry cherry-pick clean clone commit commit-graph commit-tree config
  count-objects describe diff diff-files diff-index diff-tree fetch fmt-merge-msg for-each-ref format-patch fsck gc
  get-tar-commit-id grep hash-object index-pack init init-db log ls-files ls-remote ls-tree merge merge-base merge-file
  merge-tree mktag mktree mv name-rev notes pack-objects pack-refs patch-id prune prune-packed pull push range-diff
  read-tree rebase reflog remote repack replace request-pull rerere reset restore rev-list rev-parse revert rm shortlog
  show show-branch show-index show-ref sparse-checkout stash status stripspace submodule switch symbolic-ref tag
  unpack-file unpack-objects update-index update-ref update-server-info var verify-pack version whatchanged worktree
  write-tree`.split(/\s+/),
);

/** Holds for every subcommand. The pattern: `ext::…` and its kin start a helper, a host that begins with `-` is an option of `ssh`. */
const EVERYWHERE: OptionRule = {
  long: [
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--open-files-in-pager",
    "--ext-diff",
    "--textconv",
    "--output",
    "--output-directory",
    "--strategy",
    "--help",
  ],
  sound: ["--text"],
  matching: /(?:^|=)[A-Za-z0-9][A-Za-z0-9+.-]*::|:\/\/(?:[^/]*@)?-/,
};

const BY_SUBCOMMAND: ReadonlyMap<string, OptionRule> = new Map<string, OptionRule>([
  ["archive", { short: "o" }],
  ["bisect", { words: ["run", "visualize", "view"] }],
  ["cat-file", { long: ["--filters"] }],
  ["clone", { long: ["--config", "--template", "--separate-git-dir"], short: "cu" }],
  [
    "config",
    {
      long: [
        "--edit",
        "--add",
        "--replace-all",
        "--unset",
        "--unset-all",
        "--rename-section",
        "--remove-section",
      ],
      short: "e",
    },
  ],
  ["format-patch", { short: "o" }],
  ["grep", { short: "O" }],
  ["init", { long: ["--template", "--separate-git-dir"] }],
  ["init-db", { long: ["--template", "--separate-git-dir"] }],
  ["ls-remote", { short: "u" }],
  ["merge", { short: "s" }],
  ["pull", { short: "s" }],
  ["rebase", { short: "xs" }],
  ["submodule", { words: ["foreach"] }],
]);

/** Without one of these, `git config` may write; a configuration names programs. */
const CONFIG_READERS: ReadonlySet<string> = new Set([
  "--get",
  "--get-all",
  "--get-regexp",
  "--get-urlmatch",
  "--list",
  "-l",
  "get",
  "list",
]);

/** The word because of which the command is not covered. */
export function findRefusedInGit(args: readonly string[]): string | undefined {
  const at = args.findIndex((word) => !word.startsWith("-"));
  const globals = at === -1 ? args : args.slice(0, at);
  const refused = globals.find((word) => !SOUND_GLOBALS.has(word));
  if (refused !== undefined || at === -1) return refused;
  const subcommand = args[at] ?? "";
  if (!SUBCOMMANDS.has(subcommand)) return subcommand;
  const rest = args.slice(at + 1);
  if (subcommand === "config" && !rest.some((word) => CONFIG_READERS.has(word))) return subcommand;
  return findRefusedWord(EVERYWHERE, rest) ?? findRefusedWord(BY_SUBCOMMAND.get(subcommand) ?? {}, rest);
}
