/**
 * Options that make a program start others, load code, take another configuration or write a file of the caller's
 * choice. A scoped pattern names a program, not these. Programs whose business is to start others (`npm`, `make`,
 * interpreters) may be named; only what would lead them away from the project is listed. Data only; `git` has a file of
 * its own (`git-options.ts`), and `sed` scripts are read (`sed-script.ts`).
 */
import type { OptionRule } from "./option-rule.ts";

const SSH: OptionRule = { short: "oFIJSELRDwWmQ" };
const APT: OptionRule = { long: ["--option", "--config-file"], short: "oc" };
const GCC: OptionRule = {
  words: ["-wrapper", "-specs", "--specs", "-fplugin", "-load"],
  matching: /^@|^-(?:B|fplugin|fpass-plugin|fuse-ld|Xclang|Xlinker|Wl|Wa)/,
};
const GREP_LIKE: OptionRule = {
  long: ["--pre", "--hostname-bin", "--search-zip", "--pager", "--config", "--ackrc"],
  short: "z",
};
const FD: OptionRule = { long: ["--exec", "--exec-batch"], short: "xX" };
const CONTAINER: OptionRule = {
  long: ["--config", "--host", "--context", "--tlscacert", "--tlscert", "--tlskey", "--url", "--connection"],
  short: "H",
};

const RULES: readonly (readonly [programs: string, rule: OptionRule])[] = [
  [
    "find",
    {
      words: ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls"],
    },
  ],
  ["fd fdfind", FD],
  ["rg ag ack", GREP_LIKE],
  [
    "tar gtar bsdtar",
    {
      long: [
        "--to-command",
        "--checkpoint-action",
        "--use-compress-program",
        "--rsh-command",
        "--rmt-command",
        "--info-script",
        "--new-volume-script",
        "--files-from",
        "--index-file",
      ],
      sound: ["--file"],
      short: "IFT",
      matching: /:/, // `host:archive` starts a remote shell
      bundled: true,
    },
  ],
  ["cpio", { long: ["--rsh-command", "--file"], short: "FO" }],
  ["zip", { long: ["--unzip-command", "--test", "--output-file"], short: "TO", words: ["-TT"] }],
  ["7z 7za 7zr", { words: ["-so", "-si"], matching: /^-(?:o|w)/ }],
  [
    "rsync",
    {
      long: [
        "--rsh",
        "--rsync-path",
        "--remote-option",
        "--daemon",
        "--config",
        "--log-file",
        "--write-batch",
        "--only-write-batch",
        "--read-batch",
      ],
      short: "eM",
    },
  ],
  ["ssh scp", SSH],
  ["nc ncat netcat", { long: ["--exec", "--sh-exec", "--lua-exec", "--output", "--hex-dump"], short: "eco" }],
  [
    "curl",
    {
      long: [
        "--output",
        "--output-dir",
        "--remote-name",
        "--remote-name-all",
        "--remote-header-name",
        "--config",
        "--dump-header",
        "--cookie-jar",
        "--trace",
        "--trace-ascii",
        "--stderr",
        "--libcurl",
        "--engine",
        "--etag-save",
        "--hsts",
        "--alt-svc",
        "--write-out",
        "--unix-socket",
        "--abstract-unix-socket",
        "--ssl-sessions",
      ],
      sound: ["--cookie"],
      short: "oOKDcJw",
    },
  ],
  [
    "wget",
    {
      long: [
        "--output-document",
        "--output-file",
        "--append-output",
        "--use-askpass",
        "--directory-prefix",
        "--execute",
        "--config",
        "--save-cookies",
        "--hsts-file",
        "--warc-file",
        "--rejected-log",
      ],
      short: "OoaeP",
    },
  ],
  ["sort", { long: ["--compress-program", "--output", "--temporary-directory"], short: "oT" }],
  ["shuf", { long: ["--output"], short: "o" }],
  ["split", { long: ["--filter"] }],
  ["install", { long: ["--strip-program", "--strip"], short: "s" }],
  ["diff diff3 sdiff", { long: ["--paginate", "--diff-program", "--output"], short: "lo" }],
  ["file", { long: ["--compile", "--uncompress", "--uncompress-noreport"], short: "CzZ" }],
  ["tree", { short: "o" }],
  ["printf", { short: "v" }],
  ["test [", { words: ["-v", "-R"] }],
  [
    "yq",
    {
      long: ["--inplace", "--in-place", "--split-exp", "--from-file", "--security-enable-system-operator"],
      short: "is",
    },
  ],
  [
    "pandoc",
    {
      long: ["--filter", "--lua-filter", "--pdf-engine", "--pdf-engine-opt", "--defaults", "--data-dir"],
      short: "FLd",
      matching: /\.lua$/,
    },
  ],
  [
    "openssl",
    {
      words: [
        "-engine",
        "-provider",
        "-provider-path",
        "-config",
        "-out",
        "-keyout",
        "-writerand",
        "engine",
        "-rand",
      ],
    },
  ],
  ["tcpdump", { short: "zwW", long: ["--postrotate-command"] }],
  [
    "nmap",
    {
      long: ["--script", "--datadir", "--script-args-file", "--resume"],
      short: "o",
      words: ["-sC", "-A"],
    },
  ],
  ["ip", { matching: /^(?:n|ne|net|netn|netns|vrf)$|^-(?:b|n)/ }],
  [
    "go",
    {
      matching: /^--?(?:toolexec|exec|vettool|overlay|modfile|pkgdir|C|w|ldflags|gcflags|asmflags)(?:=|$)/,
    },
  ],
  ["cargo rustc rustup", { long: ["--config", "--artifact-dir", "--out-dir"], short: "ZC", matching: /^\+/ }],
  ["gcc g++ cc c++ clang clang++ cpp", GCC],
  ["cmake", { words: ["-E", "-P"], matching: /^-(?:C|P)/ }],
  [
    "make gmake ninja",
    {
      long: ["--eval", "--file", "--makefile", "--directory", "--include-dir"],
      short: "fCIEt",
      matching: /^[^-/]+=/, // `SHELL=…`
    },
  ],
  ["gradle gradlew", { long: ["--init-script", "--project-dir", "--include-build"], short: "Ibcp" }],
  ["mvn mvnw", { long: ["--file", "--settings", "--global-settings", "--toolchains"], short: "fsDt" }],
  [
    "npm npx pnpm pnpx yarn",
    {
      long: [
        "--script-shell",
        "--shell",
        "--prefix",
        "--dir",
        "--cwd",
        "--node-options",
        "--userconfig",
        "--globalconfig",
        "--use-yarnrc",
        "--call",
        "--shell-mode",
        "--init-module",
        "--editor",
        "--viewer",
        "--git",
      ],
      sound: ["--global"],
      short: "cC",
    },
  ],
  [
    "eslint",
    {
      long: [
        "--config",
        "--plugin",
        "--rulesdir",
        "--format",
        "--parser",
        "--output-file",
        "--resolve-plugins-relative-to",
      ],
      short: "cfo",
    },
  ],
  ["prettier", { long: ["--config", "--plugin"] }],
  ["docker podman nerdctl", CONTAINER],
  ["kubectl oc", { long: ["--kubeconfig", "--cache-dir"] }],
  ["helm", { long: ["--post-renderer", "--kubeconfig", "--plugins"] }],
  ["gh", { words: ["alias", "extension", "ext", "extensions"] }],
  ["pip pip3 uv", { long: ["--python", "--log", "--config-settings", "--config-file"] }],
  ["hg", { long: ["--config", "--cwd", "--repository", "--tool"], short: "R" }],
  [
    "svn",
    {
      long: ["--config-option", "--config-dir", "--diff-cmd", "--diff3-cmd", "--editor-cmd"],
      sound: ["--diff"],
    },
  ],
  ["apt apt-get apt-cache", APT],
  ["dpkg", { long: ["--pre-invoke", "--post-invoke", "--status-logger", "--log", "--root", "--admindir"] }],
];

export const LAUNCHING_OPTIONS: ReadonlyMap<string, OptionRule> = new Map(
  RULES.flatMap(([programs, rule]) => programs.split(" ").map((program) => [program, rule] as const)),
);
