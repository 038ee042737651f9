/** Code from the network that runs at once, or is installed from an unvouched source. */
import type { ScanSeverity } from "@metier/skills/config";
import { type Act, hasTaint, taintDetails, UNKNOWN } from "../code/code-part.ts";
import { type HostKind, hostKindOf, hostOf } from "../code/known-secrets.ts";
import {
  type Hit,
  isAtLeast,
  type RuleTable,
  type ScannedDocument,
  type ScannedSkill,
} from "../scanned-skill.ts";
import { actHit, actsOf, findCommandHits, hasWord, isDocumented, isOnlyGiven } from "./find-hits.ts";

const BY_HOST: Readonly<Record<HostKind, ScanSeverity>> = {
  drop: "block",
  shortener: "block",
  address: "block",
  other: "high",
  repository: "high",
  installer: "low",
  local: "low",
};

interface Download {
  readonly severity: ScanSeverity;
  readonly from: string;
}

/** By origin; the worst of several. */
function gradeDownload(act: Act, skill: ScannedSkill): Download {
  const addresses = taintDetails(act.taints, "remote");
  const graded = (addresses.length > 0 ? addresses : [""]).map((address) =>
    gradeAddress(address, act, skill),
  );
  return graded.reduce((worst, one) => (isAtLeast(worst.severity, one.severity) ? worst : one));
}

function gradeAddress(address: string, act: Act, skill: ScannedSkill): Download {
  const host = hostOf(address.includes("://") ? address : `//${address}`);
  if (host === undefined || host.includes(UNKNOWN) || !/[.:]|^localhost$/.test(host)) {
    const from = address.replaceAll(UNKNOWN, "…").slice(0, 60);
    return { severity: documented(act, "other", "unknown"), from };
  }
  const kind = hostKindOf(host);
  // Anyone on the network path can change plain HTTP.
  const isOpen = /^http:/i.test(address) && kind !== "local" && kind !== "installer";
  const whose = isOwnHost(host, skill) ? "own" : "foreign";
  return { severity: isOpen ? "block" : documented(act, kind, whose), from: host };
}

/**
 * In a document, an unknown address is a placeholder; a public repository can be reviewed first; a product has its own
 * installer.
 */
function documented(act: Act, kind: HostKind, whose: "foreign" | "own" | "unknown"): ScanSeverity {
  const severity = BY_HOST[kind];
  if (!isDocumented(act)) return severity;
  if (whose === "unknown") return "low";
  return kind === "repository" || (kind === "other" && whose === "own") ? "medium" : severity;
}

/** The skill is about the product whose host it is: `clickhouse.com` in a skill for ClickHouse. */
function isOwnHost(host: string, { name, manifest }: ScannedSkill): boolean {
  const [label = ""] = host.split(".").slice(-2);
  const about = `${name} ${manifest?.description ?? ""}`.toLowerCase();
  return label.length >= 4 && new RegExp(`\\b${label.replace(/[^a-z0-9]/g, "\\W?")}`).test(about);
}

export const DOWNLOAD_RULES: RuleTable = {
  "download.execute": {
    severity: "block",
    title: "Runs a download without checking it",
    explanation:
      "Whoever controls the address decides what runs, every time. `block` for plain HTTP, bare IP addresses, link shorteners and paste hosts; `high` for other hosts; `low` where a project publishes its own installer.",
    help: "Put the code into the skill, or name a package and its version in `packages`.",
    find: findExecuted,
  },
  "download.package": {
    severity: "high",
    title: "Installs a package from a URL or an unknown index instead of a registry",
    explanation:
      "No registry lists the package, so nobody else has reviewed it, and its content can change. `high` if it runs at once (`npx`, `uvx`), otherwise `medium`; repositories on well-known hosts are `low`. An obscure package index is `medium`, and `high` for plain HTTP in a script.",
    help: "Install a published version, or put the code into the skill.",
    find: findPackages,
  },
  "download.locked-archive": {
    severity: "high",
    title: "Opens an archive with a password that is shipped with it",
    explanation:
      "A password shipped with the archive keeps nobody out except scanners. Malware often hides this way.",
    help: "Do not open it. Put the plain files into the skill.",
    find: findLockedArchives,
  },
};

function* findExecuted(skill: ScannedSkill): Iterable<Hit> {
  for (const act of actsOf(skill, "run")) {
    if (!hasTaint(act.taints, "remote") || isOnlyGiven(act, STARTERS)) continue;
    const { severity, from } = gradeDownload(act, skill);
    yield actHit(act, severity, from === "" ? undefined : `from \`${from}\``);
  }
}

const STARTERS =
  /^(?:subprocess\.|child_process\.(?:spawn|execFile|fork)|execa|os\.(?:exec|spawn)|asyncio\.)/;

const INSTALLERS = /^(?:pip3?|uv|uvx|pipx|npm|npx|pnpm|yarn|bun|bunx|gem|go|cargo|poetry|conda|deno)$/;

/** They run what they fetch at once. */
const RUNNERS = /^(?:npx|uvx|bunx|(?:pnpm|yarn) dlx|pipx run|deno run|bun x)\b/;

function* findPackages(skill: ScannedSkill): Iterable<Hit> {
  for (const act of actsOf(skill, "command")) {
    const words = act.words ?? [];
    const source = isInstalling(words) ? packagesOf(words).find((word) => ADDRESS.test(word)) : undefined;
    if (source !== undefined) yield actHit(act, gradeSource(source, words), `\`${source.slice(0, 80)}\``);
    else yield* findIndex(act, words);
  }
}

const ADDRESS = /^(?:git\+)?(?:https?|ssh|git):\/\//i;
const NOT_A_PACKAGE = /^--?(?:registry|index-url|i|extra-index-url|find-links|f|trusted-host|default-index)$/;

/** What runs at once is one package, and the rest are its arguments; for an installer every word may be a package. */
function packagesOf(words: readonly string[]): readonly string[] {
  const isRunner = RUNNERS.test(words.join(" "));
  const named = words.filter((_, at) => /^(?:--from|--with|--package|-p)$/.test(words[at - 1] ?? ""));
  const others = words
    .slice(1)
    .filter((word, at) => !word.startsWith("-") && !NOT_A_PACKAGE.test(words[at] ?? ""));
  if (!isRunner) return others;
  const first = others.find((word) => !/^(?:dlx|run|x)$/.test(word));
  return named.length > 0 || first === undefined ? named : [first];
}

function isInstalling([program = "", ...words]: readonly string[]): boolean {
  const isPython = /^python[\d.]*$/.test(program) && words[0] === "-m" && words[1] === "pip";
  const isElse = hasWord(words, /^(?:config|registry|run|publish|login)$|^--(?:registry|proxy)/);
  return (INSTALLERS.test(program) || isPython) && (!isElse || RUNNERS.test(`${program} ${words[0]}`));
}

function gradeSource(source: string, words: readonly string[]): ScanSeverity {
  const kind = hostKindOf(hostOf(source.replace(/^git\+/, "")) ?? "");
  if (kind === "repository" || kind === "installer") return "low";
  return RUNNERS.test(words.join(" ")) ? "high" : "medium";
}

const INDEX_OPTION =
  /^(?:-i|--?(?:index-url|extra-index-url|index|default-index|find-links|registry|source))(?:=(https?:\S+))?$/;
/** Package indexes of languages and related tools. */
const INDEX_HOSTS =
  /(?:^|\.)(?:pypi\.org|pythonhosted\.org|pytorch\.org|pyg\.org|nvidia\.com|npmjs\.(?:org|com)|yarnpkg\.com|jsr\.io|rubygems\.org|crates\.io|conda\.anaconda\.org|anaconda\.org)$/;
/** Company registries, and mirrors. */
const SHARED_INDEX_HOSTS =
  /(?:^|\.)(?:pkg\.github\.com|pkgs\.dev\.azure\.com|visualstudio\.com|pkg\.dev|amazonaws\.com|jfrog\.io|gitlab\.com|cloudsmith\.io|gemfury\.io|fury\.io|npmmirror\.com|tsinghua\.edu\.cn|ustc\.edu\.cn|aliyun\.com|huaweicloud\.com|tencent(?:yun)?\.com|github\.io)$/;

/** Packages by name from an obscure index: whoever runs it decides what the names stand for. */
function* findIndex(act: Act, [program = "", ...words]: readonly string[]): Iterable<Hit> {
  const isInstaller = INSTALLERS.test(program) || /^python[\d.]*$/.test(program);
  if (!isInstaller || hasWord(words, /^(?:config|publish|login|logout|whoami|view|ping)$/)) return;
  for (const [at, word] of words.entries()) {
    const [isOption, given = words[at + 1] ?? ""] = INDEX_OPTION.exec(word) ?? [];
    const host = isOption === undefined ? undefined : hostOf(given);
    if (host === undefined || INDEX_HOSTS.test(host) || hostKindOf(host) === "local") continue;
    yield actHit(act, gradeIndex(given, host, act), `packages from \`${given.slice(0, 80)}\``);
  }
}

function gradeIndex(index: string, host: string, act: Act): ScanSeverity {
  if (host.includes(UNKNOWN) || SHARED_INDEX_HOSTS.test(host)) return "low";
  return /^http:/i.test(index) && !isDocumented(act) ? "high" : "medium";
}

const LOCKED_PROSE =
  /\b(?:extract|unzip|unpack|open|archive|zip)\b[^.\n]{0,80}\b(?:password|passcode|pass)\b\s*(?:is|:|=)?\s*[“"'`]?[\w!@#$%-]{3,}/i;

function* findLockedArchives(skill: ScannedSkill): Iterable<Hit> {
  yield* findCommandHits(skill, isUnlocking, "high", "medium");
  for (const document of skill.documents) yield* findPasswords(document);
}

/** With a literal password, not one filled in. */
function isUnlocking(program: string, words: readonly string[]): boolean {
  const isLocked =
    (program === "unzip" && hasWord(words, /^-P/)) ||
    (/^(?:7z|7za|7zz)$/.test(program) && hasWord(words, /^[xe]$/) && hasWord(words, /^-p./)) ||
    (program === "unrar" && hasWord(words, /^-p[^-]/));
  return isLocked && !words.some((word) => /^-[pP]?(?:\uFFFC|\$)/.test(word) || word === UNKNOWN);
}

function* findPasswords({ file, parts }: ScannedDocument): Iterable<Hit> {
  if (!/\bpass/i.test(file.text)) return;
  for (const [index, line] of parts.prose.entries()) {
    if (!LOCKED_PROSE.test(line)) continue;
    const around = parts.prose.slice(Math.max(0, index - 3), index + 1).join("\n");
    if (/https?:\/\/|\bdownload\b/i.test(around))
      yield { path: file.path, line: index + 1, seen: line.trim(), severity: "high" };
  }
}
