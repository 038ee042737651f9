import {
  type DeclaredCommand,
  defineCommand,
  manyArguments,
  optionalArgument,
  switchFlag,
  textFlag,
} from "./define.ts";

/** Of the commands that change what is installed. */
const project = switchFlag("Use the project's `metier.lock` instead of your own");

export const install: DeclaredCommand = defineCommand({
  name: "install",
  group: "Managing",
  brief: "Install skills from a repository, folder, archive, package or site",
  description:
    "What is fetched waits in a quarantine until it is checked, scanned and shown to you. A source is `owner/repo[/path][@ref]`,\na git URL, a folder (`./skills`), an archive or `SKILL.md` by URL or path, `npm:name`, or a site with an index of skills.\nWithout a source, what the locks list is restored, byte for byte. Nothing is trusted by being installed. Exits 1 when a\nskill cannot be installed (not valid, blocked by the scan, name taken), 3 when someone must look at it first, 6 without git.",
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
    skill: {
      kind: "parsed",
      parse: String,
      optional: true,
      variadic: true,
      placeholder: "skill",
      brief: "Which skill of the source: name, glob or path (repeatable)",
    },
    all: switchFlag("All skills of the source"),
    name: textFlag("name", "What to call the skill here"),
    project,
    agent: {
      kind: "parsed",
      parse: String,
      optional: true,
      variadic: ",",
      placeholder: "client",
      brief: "Other clients that get it too: claude-code, codex, … (repeatable)",
    },
    copy: switchFlag("With --project or --agent: put copies there, not links into your store"),
    link: switchFlag("Use a local folder where it is"),
    force: switchFlag("Replace a skill of the same name, and what was changed by hand"),
    frozen: switchFlag("Restore from the lock, and fail if anything differs from it"),
    dryRun: switchFlag("Show what would be installed"),
    baseline: textFlag("file", "Accepted findings of the scan, in place of those that your config names"),
    writeBaseline: textFlag(
      "file",
      "Add what the scan finds to this file of accepted findings; installs nothing",
    ),
    yes: switchFlag("Ask nothing and install; grants no trust, and what the scan blocks stays blocked"),
  },
  positional: optionalArgument("source", "Where the skills come from; nothing: what the locks list"),
  action: "install",
});

export const remove: DeclaredCommand = defineCommand({
  name: "remove",
  group: "Managing",
  brief: "Remove installed skills",
  description:
    "Takes back what installing recorded: the entry of the lock, copies for other clients and the trust in that content.\nCopies that were changed by hand stay, and so does what a skill kept over its runs, unless you say otherwise.",
  examples: ["metier remove pdf", "metier remove pdf report --project", "metier remove pdf --data"],
  flags: {
    project,
    force: switchFlag("Also remove copies that were changed by hand"),
    data: switchFlag("Also remove what the skills kept over their runs"),
  },
  positional: manyArguments("skill", "Name of an installed skill", 1),
  action: "remove",
});
