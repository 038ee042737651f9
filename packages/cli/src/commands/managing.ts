/** Commands that decide which skills are installed, enabled and trusted. */
import {
  type DeclaredCommand,
  defineCommand,
  eitherFlag,
  type FlagsOf,
  listFlag,
  manyArguments,
  optionalArgument,
  requiredArgument,
  switchFlag,
  textFlag,
} from "./define.ts";

/** For commands that change what is installed. */
const project = switchFlag("Use the project's `metier.lock` instead of yours");

const baseline = textFlag("file", "Accepted scan findings, instead of the file your config names");
const writeBaseline = (left: string) =>
  textFlag("file", `Add scan findings to this file of accepted findings; ${left}`);

const install = defineCommand({
  name: "install",
  also: ["add"],
  brief: "Install skills from a repository, folder, archive, package or site",
  description:
    "Fetches skills into a quarantine, checks and scans them, and shows them to you before anything is installed. A source is `owner/repo[/path][@ref]`, a git URL, a folder (`./skills`), the URL or path of an archive or `SKILL.md`, `npm:name`, or a site with an index of skills. Without a source, restores what the lock files list, byte for byte. Installing a skill doesn't trust it.\n\nExits 1 when a skill can't be installed (invalid, blocked by the scan, name taken), 3 when someone must review it first, 6 when git is missing.",
  examples: [
    "metier install owner/repo",
    "metier install owner/repo@v1.2.0 --skill pdf --skill 'report-*'",
    "metier install ./team-skills/deploy --link",
    "metier install https://example.com/skills.tar.gz --all --yes",
    "metier install owner/repo --project",
    "metier install owner/repo --agent claude-code,codex",
    "metier install --frozen",
  ],
  flags: {
    ref: textFlag("ref", "Branch, tag, commit or version"),
    skill: listFlag("skill", "Skill to install: name, glob or path (repeatable)"),
    all: switchFlag("Install all skills from the source"),
    name: textFlag("name", "Install the skill under this name"),
    project,
    agent: listFlag("client", "Also install for this client: claude-code, codex, … (repeatable)", ","),
    copy: switchFlag("With --project or --agent: install copies instead of links to your store"),
    link: switchFlag("Link to a local folder instead of copying it"),
    force: switchFlag("Replace a skill with the same name, even if you edited it"),
    frozen: switchFlag("Restore from the lock; fail if anything differs"),
    dryRun: switchFlag("Show what would be installed; install nothing"),
    baseline,
    writeBaseline: writeBaseline("installs nothing"),
    yes: switchFlag("Install without asking; grants no trust and installs nothing the scan blocks"),
  },
  positional: optionalArgument("source", "Where the skills come from (default: what the lock files list)"),
  from: () => import("../actions/install.ts"),
  action: "installAction",
});
export type InstallFlags = FlagsOf<typeof install>;

export const remove = defineCommand({
  name: "remove",
  also: ["uninstall"],
  brief: "Remove installed skills",
  description:
    "Removes the lock entry, copies for other clients, and trust in that content. Keeps copies that you edited and data from the skill's runs unless you pass `--force` or `--data`.",
  examples: ["metier remove pdf", "metier remove pdf report --project", "metier remove pdf --data"],
  flags: {
    project,
    force: switchFlag("Also remove copies you edited"),
    data: switchFlag("Also remove data from the skill's runs"),
  },
  positional: manyArguments("skill", "Names of installed skills", 1),
  from: () => import("../actions/install.ts"),
  action: "removeAction",
});
export type RemoveFlags = FlagsOf<typeof remove>;

const locks = eitherFlag(
  "Use only the project's `metier.lock`, or with --no-project only yours (default: both)",
);
const skills = manyArguments("skill", "Names of installed skills (default: all)");

export const update = defineCommand({
  name: "update",
  also: ["upgrade"],
  brief: "Review and install new versions of installed skills",
  description:
    "Shows changes and new risks before it installs them: scripts, addresses, tools, variables, network access, packages, scan findings, and your own edits. You keep, take or abort. Without a terminal, takes only versions that add no risk and overwrite nothing. A new version is untrusted until you trust it. Data from earlier runs stays, and `metier rollback` goes back.\n\nExits 1 when a new version is blocked or its source is gone, 3 when someone must review it first, 5 when a source can't be reached.",
  examples: ["metier update", "metier update pdf", "metier update --dry-run", "metier update --yes"],
  flags: {
    project: locks,
    dryRun: switchFlag("Show everything, change nothing"),
    baseline,
    writeBaseline: writeBaseline("takes nothing"),
    yes: switchFlag("Install new versions without asking, except blocked ones and over your own edits"),
    force: switchFlag("Also replace skills you edited; a copy is kept"),
  },
  positional: skills,
  from: () => import("../actions/install.ts"),
  action: "updateAction",
});
export type UpdateFlags = FlagsOf<typeof update>;

const outdated = defineCommand({
  name: "outdated",
  brief: "Show which installed skills have new versions",
  description:
    "Asks the source of every installed skill. Changes nothing.\n\nExits 0 when all skills are current, 1 when one is outdated or its source is gone, 5 when a source can't be reached.",
  examples: ["metier outdated", "metier outdated pdf --json"],
  flags: { project: locks },
  positional: skills,
  from: () => import("../actions/install.ts"),
  action: "outdatedAction",
});
export type OutdatedFlags = FlagsOf<typeof outdated>;

const rollback = defineCommand({
  name: "rollback",
  brief: "Go back to the version before the last update",
  description:
    "Goes back one step; a second rollback goes forward again. Takes the version from your store, or fetches it and compares it with the lock. Your earlier trust in that version applies again.",
  examples: ["metier rollback pdf"],
  flags: {
    project: locks,
    force: switchFlag("Also replace a skill you edited; a copy is kept"),
  },
  positional: requiredArgument("skill", "Name of an installed skill"),
  from: () => import("../actions/install.ts"),
  action: "rollbackAction",
});
export type RollbackFlags = FlagsOf<typeof rollback>;

const verify = defineCommand({
  name: "verify",
  brief: "Check installed skills against the lock and your grants",
  description:
    "Hashes the files on disk, compares them with the lock and with what you trusted, and names every file that differs. Needs no network and changes nothing.\n\nExits 1 when something differs.",
  examples: ["metier verify", "metier verify pdf --json"],
  flags: { project: locks },
  positional: skills,
  from: () => import("../actions/install.ts"),
  action: "verifyAction",
});
export type VerifyFlags = FlagsOf<typeof verify>;

const configFlags = { project: switchFlag("Use the project's config file instead of yours") };

export const enable = defineCommand({
  name: "enable",
  brief: "Enable a skill in your config",
  description: "Writes `[skills.<name>] enabled = true` and keeps the comments in the file.",
  examples: ["metier enable triage-issue"],
  flags: configFlags,
  positional: manyArguments("skill", "Names of skills", 1),
  from: () => import("../actions/config.ts"),
  action: "enableAction",
});
export type EnableFlags = FlagsOf<typeof enable>;

export const disable = defineCommand({
  name: "disable",
  brief: "Disable a skill in your config",
  description:
    "Writes `[skills.<name>] enabled = false`. Models no longer see the skill, and nobody can invoke it.",
  examples: ["metier disable triage-issue", "metier disable deploy --project"],
  flags: configFlags,
  positional: manyArguments("skill", "Names of skills", 1),
  from: () => import("../actions/config.ts"),
  action: "disableAction",
});

const trust = defineCommand({
  name: "trust",
  brief: "Trust a folder, or a skill exactly as it is now",
  description:
    "Trust lets a skill pre-approve tools, receive secrets and more. A trusted folder (by default this project) stays trusted when its skills change; its config file is trusted only as it is now. A trusted skill loses trust when any byte changes.",
  usage: ["[<target>...]", "list"],
  actions: {
    "<target>...": "Trust skills (name or scope:name) or folders; without one, this project",
    list: "List what you trust",
  },
  examples: [
    "metier trust",
    "metier trust ~/.claude/skills",
    "metier trust custom:deploy",
    "metier trust list",
  ],
  positional: manyArguments("target", "Skill names, scope:name or folders"),
  from: () => import("../actions/trust.ts"),
  action: "trustAction",
});

const untrust = defineCommand({
  name: "untrust",
  brief: "Withdraw trust from a folder or skill",
  description: "Without a target, withdraws trust from this project's folder.",
  examples: ["metier untrust", "metier untrust deploy"],
  positional: manyArguments("target", "Skill names, folders or digests"),
  from: () => import("../actions/trust.ts"),
  action: "untrustAction",
});

const setup = defineCommand({
  name: "setup",
  brief: "Show what skills need installed, and install it",
  description:
    "Covers the Debian packages that usable skills name (`packages`) and the Python and Node packages that they lock (`requirements.txt`, `package-lock.json`). Shows what is installed, missing or left out, and why. With `--install`, installs locked packages of trusted skills in the sandbox, and missing Debian packages with apt after you type `install` in a terminal.\n\nWith `--install`, exits 3 when something is left out or not confirmed, 5 when an installation failed, 6 when packages are missing and there is no apt.",
  examples: ["metier setup", "metier setup pdf", "metier setup --install", "metier setup --json"],
  flags: {
    install: switchFlag("Install what is missing; Debian packages always need your typed confirmation"),
  },
  positional: manyArguments("skill", "Only these skills: name or scope:name"),
  from: () => import("../actions/setup.ts"),
  action: "setupAction",
});
export type SetupFlags = FlagsOf<typeof setup>;

const config = defineCommand({
  name: "config",
  brief: "Show, explain, edit or change the configuration",
  description:
    "Without an action, shows every value that is set. Never prints secrets.\n\nExits 2 when a config file is broken.",
  actions: {
    "get <key>": "Print one value",
    "set <key> <value>": "Set a value; comments in the file stay",
    "unset <key>": "Remove a value",
    path: "Show which files are read",
    edit: "Open the file in $VISUAL or $EDITOR and check the result",
  },
  examples: [
    "metier config --explain",
    "metier config get skills.paths",
    "metier config set skills.paths '[\"~/team-skills\"]'",
    "metier config unset skills.preset",
    "metier config edit --project",
  ],
  flags: {
    explain: switchFlag("Show where each value comes from and what it overrides"),
    ...configFlags,
  },
  positional: manyArguments("action", "What to do"),
  from: () => import("../actions/config.ts"),
  action: "configAction",
});
export type ConfigFlags = FlagsOf<typeof config>;

const completion = defineCommand({
  name: "completion",
  brief: "Print the completion script for bash, zsh or fish",
  description:
    'Completes commands, options, their values, and the names of your skills.\n\nBash: add `eval "$(metier completion bash)"` to `~/.bashrc`. Zsh: write the script to a file `_metier` in a folder of `$fpath`. Fish: write it to `~/.config/fish/completions/metier.fish`.',
  examples: [
    'eval "$(metier completion bash)"',
    "metier completion zsh > ~/.zfunc/_metier",
    "metier completion fish > ~/.config/fish/completions/metier.fish",
  ],
  positional: requiredArgument("shell", "bash, zsh or fish"),
  from: () => import("../actions/completion.ts"),
  action: "completionAction",
});

/** `metier skill manage list`: the installed skills. */
export const manageList = defineCommand({
  name: "list",
  brief: "List installed skills",
  description: "Lists the skills of scope `installed`.",
  examples: ["metier skill manage list"],
  from: () => import("../actions/list.ts"),
  action: "listInstalledAction",
});

/** `metier skill manage` without an action. */
export const manageActions = defineCommand({
  name: "actions",
  brief: "List the actions of `metier skill manage`",
  description: "Lists the actions.",
  examples: ["metier skill manage"],
  from: () => import("../actions/list.ts"),
  action: "manageAction",
});

/** In overview order. */
export const MANAGING: readonly DeclaredCommand[] = [
  install,
  update,
  outdated,
  remove,
  rollback,
  verify,
  enable,
  disable,
  trust,
  untrust,
  setup,
  config,
  completion,
];
