/**
 * Options that make a program start others, load code, use another configuration or write a file of the caller's
 * choice. A scoped pattern names a program, not these. Programs whose purpose is to start others (`npm`, `make`,
 * interpreters) may be named; only what would lead them out of the project is listed. `git` has its own rules at the
 * end, and `sed` scripts are parsed (`command-scope.ts`). Tables are read when a command is checked, not at startup.
 */

/** How a table lists a program's refused options. Names are separated by spaces. */
interface OptionRule {
  /** `--name`; every prefix of it counts too, since most programs accept abbreviations. */
  readonly long?: string;
  /** Long options that are fine although they are a prefix of a refused one. */
  readonly sound?: string;
  /** Letters; refused anywhere after a single `-`: alone, in a cluster or with a value attached. */
  readonly short?: string;
  /** Whole words: `-exec`, a subcommand. With or without `=value` after them. */
  readonly words?: string;
  /** Anything else that a word must not look like. */
  readonly matching?: RegExp;
  /** The first word is a cluster of letters even without `-`, as in `tar xf`. */
  readonly bundled?: true;
}

/** Programs that share a rule → the rule. */
const RULES: Readonly<Record<string, OptionRule>> = {
  find: { words: "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls" },
  "fd fdfind": { long: "--exec --exec-batch", short: "xX" },
  "rg ag ack": { long: "--pre --hostname-bin --search-zip --pager --config --ackrc", short: "z" },
  "tar gtar bsdtar": {
    long: `--to-command --checkpoint-action --use-compress-program --rsh-command --rmt-command --info-script
      --new-volume-script --files-from --index-file`,
    sound: "--file",
    short: "IFT",
    matching: /:/, // `host:archive` starts a remote shell
    bundled: true,
  },
  cpio: { long: "--rsh-command --file", short: "FO" },
  zip: { long: "--unzip-command --test --output-file", short: "TO", words: "-TT" },
  "7z 7za 7zr": { words: "-so -si", matching: /^-(?:o|w)/ },
  rsync: {
    long: `--rsh --rsync-path --remote-option --daemon --config --log-file --write-batch --only-write-batch
      --read-batch`,
    short: "eM",
  },
  "ssh scp": { short: "oFIJSELRDwWmQ" },
  "nc ncat netcat": { long: "--exec --sh-exec --lua-exec --output --hex-dump", short: "eco" },
  curl: {
    long: `--output --output-dir --remote-name --remote-name-all --remote-header-name --config --dump-header
      --cookie-jar --trace --trace-ascii --stderr --libcurl --engine --etag-save --hsts --alt-svc --write-out
      --unix-socket --abstract-unix-socket --ssl-sessions`,
    sound: "--cookie",
    short: "oOKDcJw",
  },
  wget: {
    long: `--output-document --output-file --append-output --use-askpass --directory-prefix --execute --config
      --save-cookies --hsts-file --warc-file --rejected-log`,
    short: "OoaeP",
  },
  sort: { long: "--compress-program --output --temporary-directory", short: "oT" },
  shuf: { long: "--output", short: "o" },
  split: { long: "--filter" },
  install: { long: "--strip-program --strip", short: "s" },
  "diff diff3 sdiff": { long: "--paginate --diff-program --output", short: "lo" },
  file: { long: "--compile --uncompress --uncompress-noreport", short: "CzZ" },
  tree: { short: "o" },
  printf: { short: "v" },
  "test [": { words: "-v -R" },
  yq: {
    long: "--inplace --in-place --split-exp --from-file --security-enable-system-operator",
    short: "is",
  },
  pandoc: {
    long: "--filter --lua-filter --pdf-engine --pdf-engine-opt --defaults --data-dir",
    short: "FLd",
    matching: /\.lua$/,
  },
  openssl: {
    words: "-engine -provider -provider-path -config -out -keyout -writerand engine -rand",
  },
  tcpdump: { short: "zwW", long: "--postrotate-command" },
  nmap: { long: "--script --datadir --script-args-file --resume", short: "o", words: "-sC -A" },
  ip: { matching: /^(?:n|ne|net|netn|netns|vrf)$|^-(?:b|n)/ },
  go: {
    matching: /^--?(?:toolexec|exec|vettool|overlay|modfile|pkgdir|C|w|ldflags|gcflags|asmflags)(?:=|$)/,
  },
  "cargo rustc rustup": { long: "--config --artifact-dir --out-dir", short: "ZC", matching: /^\+/ },
  "gcc g++ cc c++ clang clang++ cpp": {
    words: "-wrapper -specs --specs -fplugin -load",
    matching: /^@|^-(?:B|fplugin|fpass-plugin|fuse-ld|Xclang|Xlinker|Wl|Wa)/,
  },
  cmake: { words: "-E -P", matching: /^-(?:C|P)/ },
  "make gmake ninja": {
    long: "--eval --file --makefile --directory --include-dir",
    short: "fCIEt",
    matching: /^[^-/]+=/, // `SHELL=…`
  },
  "gradle gradlew": { long: "--init-script --project-dir --include-build", short: "Ibcp" },
  "mvn mvnw": { long: "--file --settings --global-settings --toolchains", short: "fsDt" },
  "npm npx pnpm pnpx yarn": {
    long: `--script-shell --shell --prefix --dir --cwd --node-options --userconfig --globalconfig --use-yarnrc --call
      --shell-mode --init-module --editor --viewer --git`,
    sound: "--global",
    short: "cC",
  },
  eslint: {
    long: "--config --plugin --rulesdir --format --parser --output-file --resolve-plugins-relative-to",
    short: "cfo",
  },
  prettier: { long: "--config --plugin" },
  "docker podman nerdctl": {
    long: "--config --host --context --tlscacert --tlscert --tlskey --url --connection",
    short: "H",
  },
  "kubectl oc": { long: "--kubeconfig --cache-dir" },
  helm: { long: "--post-renderer --kubeconfig --plugins" },
  gh: { words: "alias extension ext extensions" },
  "pip pip3 uv": { long: "--python --log --config-settings --config-file" },
  hg: { long: "--config --cwd --repository --tool", short: "R" },
  svn: { long: "--config-option --config-dir --diff-cmd --diff3-cmd --editor-cmd", sound: "--diff" },
  "apt apt-get apt-cache": { long: "--option --config-file", short: "oc" },
  dpkg: { long: "--pre-invoke --post-invoke --status-logger --log --root --admindir" },
};

export function listWords(text = ""): readonly string[] {
  return text.match(/\S+/g) ?? [];
}

/** The word for which a call of the program is not covered; for `git`, see below. */
export function findRefusedOption(program: string, args: readonly string[]): string | undefined {
  if (program === "git") return findRefusedInGit(args);
  const [, rule] = Object.entries(RULES).find(([names]) => listWords(names).includes(program)) ?? [];
  return rule && findRefusedWord(rule, args);
}

/**
 * The first word that the rule refuses. A word counts anywhere, even after `--` or as an option's value: telling these
 * apart would need every option of the program.
 */
function findRefusedWord(rule: OptionRule, args: readonly string[]): string | undefined {
  const refusedWords = listWords(rule.words);
  return args.find((word, index) => {
    const name = word.split("=", 1)[0] ?? "";
    return (
      refusedWords.includes(name) ||
      rule.matching?.test(word) === true ||
      isRefusedLong(rule, name) ||
      isRefusedCluster(rule, word, index)
    );
  });
}

function isRefusedLong({ long, sound }: OptionRule, name: string): boolean {
  if (!name.startsWith("--") || name === "--" || listWords(sound).includes(name)) return false;
  return listWords(long).some((option) => option.startsWith(name));
}

function isRefusedCluster({ short = "", bundled }: OptionRule, word: string, index: number): boolean {
  const isCluster = /^-[^-]/.test(word) || (bundled === true && index === 0 && !word.startsWith("-"));
  return isCluster && [...short].some((letter) => word.includes(letter));
}

/*
 * What a scoped pattern may cover of `git`. Options before the subcommand can replace every program git starts, so only
 * the listed ones are accepted there; a subcommand must be git's own and start nothing of the caller's choice, since
 * any other word is an alias or a program named `git-<word>`.
 */

/** Not `-C`, `--git-dir` or `--work-tree`: another repository has another configuration, which names programs. */
const SOUND_GLOBALS = `--no-pager -P --version -v --no-optional-locks --no-replace-objects --no-lazy-fetch --no-advice
  --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs`;

const SUBCOMMANDS = `add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore
  check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean clone commit commit-graph commit-tree
  config count-objects describe diff diff-files diff-index diff-tree fetch fmt-merge-msg for-each-ref format-patch fsck
  gc get-tar-commit-id grep hash-object index-pack init init-db log ls-files ls-remote ls-tree merge merge-base
  merge-file merge-tree mktag mktree mv name-rev notes pack-objects pack-refs patch-id prune prune-packed pull push
  range-diff read-tree rebase reflog remote repack replace request-pull rerere reset restore rev-list rev-parse revert
  rm shortlog show show-branch show-index show-ref sparse-checkout stash status stripspace submodule switch symbolic-ref
  tag unpack-file unpack-objects update-index update-ref update-server-info var verify-pack version whatchanged worktree
  write-tree`;

/**
 * For every subcommand. The pattern: `ext::…` and similar start a helper, and a host that starts with `-` is an `ssh`
 * option.
 */
const EVERYWHERE: OptionRule = {
  long: `--upload-pack --receive-pack --exec --open-files-in-pager --ext-diff --textconv --output --output-directory
    --strategy --help`,
  sound: "--text",
  matching: /(?:^|=)[A-Za-z0-9][A-Za-z0-9+.-]*::|:\/\/(?:[^/]*@)?-/,
};

/** Keyed by one of `SUBCOMMANDS`. */
const BY_SUBCOMMAND: Readonly<Record<string, OptionRule>> = {
  archive: { short: "o" },
  bisect: { words: "run visualize view" },
  "cat-file": { long: "--filters" },
  clone: { long: "--config --template --separate-git-dir", short: "cu" },
  config: {
    long: "--edit --add --replace-all --unset --unset-all --rename-section --remove-section",
    short: "e",
  },
  "format-patch": { short: "o" },
  grep: { short: "O" },
  init: { long: "--template --separate-git-dir" },
  "init-db": { long: "--template --separate-git-dir" },
  "ls-remote": { short: "u" },
  merge: { short: "s" },
  pull: { short: "s" },
  rebase: { short: "xs" },
  submodule: { words: "foreach" },
};

/** Without one of these, `git config` may write, and a configuration names programs. */
const CONFIG_READERS = "--get --get-all --get-regexp --get-urlmatch --list -l get list";

function findRefusedInGit(args: readonly string[]): string | undefined {
  const at = args.findIndex((word) => !word.startsWith("-"));
  const globals = at === -1 ? args : args.slice(0, at);
  const refused = globals.find((word) => !listWords(SOUND_GLOBALS).includes(word));
  if (refused !== undefined || at === -1) return refused;
  const subcommand = args[at] ?? "";
  if (!listWords(SUBCOMMANDS).includes(subcommand)) return subcommand;
  const rest = args.slice(at + 1);
  const readers = listWords(CONFIG_READERS);
  if (subcommand === "config" && !rest.some((word) => readers.includes(word))) return subcommand;
  return findRefusedWord(EVERYWHERE, rest) ?? findRefusedWord(BY_SUBCOMMAND[subcommand] ?? {}, rest);
}
