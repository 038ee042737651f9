import {
  type DeclaredCommand,
  defineCommand,
  manyArguments,
  requiredArgument,
  switchFlag,
  textFlag,
} from "./define.ts";

const project = {
  kind: "boolean",
  optional: true,
  brief: "Only what the project's `metier.lock` lists; --no-project: only your own (default: both)",
};
const skills = manyArguments("skill", "Names of installed skills; nothing: all");

export const update: DeclaredCommand = defineCommand({
  name: "update",
  group: "Managing",
  brief: "Review and take new versions of installed skills",
  description:
    "Fetches what the sources have now and shows what changed there, what was changed by hand here, and what is new in risk:\nscripts, addresses, tools, variables, network, packages, findings of the scan. You keep, take or abort. Without a terminal,\nonly what brings nothing new in risk and overwrites nothing is taken. A new version is untrusted until you trust it; what\nthe skill keeps over its runs stays, and `metier rollback` goes back. Exits 1 when a new version is blocked or a source\nis gone, 3 when someone must look first, 5 when a source cannot be reached.",
  examples: ["metier update", "metier update pdf", "metier update --dry-run", "metier update --yes"],
  flags: {
    project,
    dryRun: switchFlag("Show everything, change nothing"),
    baseline: textFlag("file", "Accepted findings of the scan, in place of those that your config names"),
    writeBaseline: textFlag(
      "file",
      "Add what the scan finds to this file of accepted findings; takes nothing",
    ),
    yes: switchFlag(
      "Ask nothing and take new versions, except blocked ones and over what was changed by hand",
    ),
    force: switchFlag("Also take new versions over what was changed by hand; a copy of it is kept"),
  },
  positional: skills,
  action: "update",
});

export const outdated: DeclaredCommand = defineCommand({
  name: "outdated",
  group: "Managing",
  brief: "Show which installed skills have new versions",
  description:
    "Asks the source of every installed skill and changes nothing. Exits 0 when all are current, 1 when one is outdated or its\nsource is gone, 5 when a source could not be asked.",
  examples: ["metier outdated", "metier outdated pdf --json"],
  flags: { project },
  positional: skills,
  action: "outdated",
});

export const rollback: DeclaredCommand = defineCommand({
  name: "rollback",
  group: "Managing",
  brief: "Go back to the version before the last update",
  description:
    "One step: done twice, it goes forward again. The version is taken from your store, or fetched and compared with what the\nlock recorded of it. Trust in that version holds again.",
  examples: ["metier rollback pdf"],
  flags: {
    project,
    force: switchFlag("Also over what was changed by hand; a copy of it is kept"),
  },
  positional: requiredArgument("skill", "Name of an installed skill"),
  action: "rollback",
});

export const verify: DeclaredCommand = defineCommand({
  name: "verify",
  group: "Managing",
  brief: "Check installed skills against the lock and your grants, file by file",
  description:
    "Hashes what is on disk and compares it with what the locks record and with what you trusted, and names every file that\ndiffers. Needs no network and changes nothing. Exits 1 when something differs.",
  examples: ["metier verify", "metier verify pdf --json"],
  flags: { project },
  positional: skills,
  action: "verify",
});
