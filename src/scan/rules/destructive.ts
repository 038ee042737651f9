/** Commands that cannot be undone. */
import { type Act, UNKNOWN } from "../code/act.ts";
import type { Hit, ScanRule } from "../rule.ts";
import type { ScannedSkill } from "../scanned-skill.ts";
import { actHit, actsOf, isDocumented } from "./act-hits.ts";

/** The root, the home folder, or everything in one of them. */
const EVERYTHING =
  /^(?:\/|\/\*|~|~\/|~\/\*|\/(?:home|root|Users|etc|usr|var|bin|lib|opt|boot|System|Library)(?:\/\*?)?|[A-Z]:\\?\*?|%USERPROFILE%|\$env:USERPROFILE|\/\.\*|\.\.\/?\*?)$/i;
const SYSTEM_DEVICE = /^(?:of=)?\/dev\/(?:sd[a-z]|nvme\d|hd[a-z]|vd[a-z]|xvd[a-z]|disk\d|rdisk\d|mmcblk\d)/;

export const DESTRUCTIVE_RULES: readonly ScanRule[] = [
  {
    id: "destructive.delete-everything",
    family: "destructive",
    severity: "block",
    title: "The whole disk, the home folder or what lies around the work is deleted",
    explanation:
      "No skill has a reason to. In a document it is `high`, since it may be shown as what not to do.",
    help: "Delete the one folder that is meant, by its full path.",
    find: function* (skill) {
      for (const act of actsOf(skill, "delete", "command")) {
        const target = deletedEverything(act);
        if (target !== undefined)
          yield actHit(act, { severity: isDocumented(act) ? "high" : "block", detail: `\`${target}\`` });
      }
    },
  },
  {
    id: "destructive.delete-variable",
    family: "destructive",
    severity: "low",
    title: "What is deleted depends on a variable that may be empty",
    explanation:
      '`rm -rf "$DIR/"*` deletes the root of the disk when `DIR` is empty. It is a frequent mistake rather than an attack.',
    help: "Check the variable first, or write it so that the script ends when it is empty: `:?` behind its name.",
    find: function* (skill) {
      for (const act of actsOf(skill, "delete")) {
        const [program, ...words] = act.words ?? [];
        const isForced = program === "rm" && words.some((word) => /^-\w*r/i.test(word));
        const target = words.find((word) => new RegExp(`^${UNKNOWN}/\\*?$`).test(word));
        if (isForced && target !== undefined && !/\$\{\w+:\?/.test(act.seen))
          yield actHit(act, { severity: "low" });
      }
    },
  },
  {
    id: "destructive.device",
    family: "destructive",
    severity: "high",
    title: "A disk is formatted or overwritten",
    explanation:
      "Everything on it is lost. Guides for setting up machines show such commands, so it is `medium` in documents.",
    help: "Leave it to the user, who knows which disk is which.",
    find: function* (skill) {
      for (const act of actsOf(skill, "command", "write"))
        if (overwritesDevice(act)) yield actHit(act, { severity: isDocumented(act) ? "medium" : "high" });
    },
  },
  {
    id: "destructive.permissions",
    family: "destructive",
    severity: "high",
    title: "Permissions of the whole system are opened",
    explanation:
      "With `chmod -R 777 /` every program may change every file, and the system no longer starts. A program that is made to run as root for everyone is as bad.",
    help: "Change the one file that is meant.",
    find: findPermissions,
  },
  {
    id: "destructive.fork-bomb",
    family: "destructive",
    severity: "high",
    title: "Processes are started without end",
    explanation: "The machine stops answering.",
    help: "Do not use the skill.",
    find: function* (skill) {
      for (const act of actsOf(skill, "command")) {
        // `:|:` within a function of that name.
        const [program = ""] = act.words ?? [];
        const isPiped = act.seen.replace(/\s/g, "") === `${program}|${program}`;
        if (isPiped && act.part.text.includes(`${program}()`)) yield actHit(act, { severity: "high" });
      }
    },
  },
  {
    id: "destructive.force-push",
    family: "destructive",
    severity: "low",
    title: "The history of a repository is overwritten",
    explanation:
      "`git push --force` takes commits of others away. It has honest uses, so it is only worth a look.",
    help: "Write `--force-with-lease`, and leave it to the user.",
    find: function* (skill) {
      for (const act of actsOf(skill, "command")) {
        const [program, verb, ...words] = act.words ?? [];
        if (
          program === "git" &&
          verb === "push" &&
          words.some((word) => /^(?:-f|--force|--mirror)$/.test(word))
        )
          yield actHit(act, { severity: isDocumented(act) ? "info" : "low" });
      }
    },
  },
  {
    id: "destructive.database",
    family: "destructive",
    severity: "medium",
    title: "A whole database is deleted",
    explanation:
      "`DROP DATABASE` and its like take everything at once. Guides show it for test databases, so it is `low` in documents.",
    help: "Leave it to the user.",
    find: function* (skill) {
      for (const act of actsOf(skill, "command")) {
        const [program = "", ...words] = act.words ?? [];
        const isClient = /^(?:psql|mysql|mariadb|mongo|mongosh|redis-cli|sqlite3|dropdb)$/.test(program);
        const drops =
          program === "dropdb" ||
          words.some((word) => /\bdrop\s+(?:database|schema)\b|\bdropDatabase\(|^FLUSHALL$/i.test(word));
        if (isClient && drops) yield actHit(act, { severity: isDocumented(act) ? "low" : "medium" });
      }
    },
  },
];

function deletedEverything({ kind, words, target = "", content = "" }: Act): string | undefined {
  const [program = "", ...rest] = words ?? [];
  if (kind === "command") {
    const deletes =
      program === "find" &&
      (rest.includes("-delete") || /-exec rm\b/.test(rest.join(" "))) &&
      !rest.some((word) =>
        /^-(?:i?name|mtime|empty|path|regex|maxdepth|size|newer\w*|mmin|iname)$/.test(word),
      );
    return deletes && EVERYTHING.test(rest[0] ?? "") ? rest[0] : undefined;
  }
  if (words === undefined)
    return /rmtree|rimraf|rm/.test(content) && EVERYTHING.test(target) ? target : undefined;
  const isRecursive = program !== "rm" || rest.some((word) => /^-\w*[rR]|^--recursive/.test(word));
  return isRecursive ? rest.find((word) => EVERYTHING.test(word)) : undefined;
}

function overwritesDevice({ kind, words, target = "" }: Act): boolean {
  if (kind === "write") return SYSTEM_DEVICE.test(target);
  const [program = "", ...rest] = words ?? [];
  if (/^mkfs(?:\.\w+)?$|^(?:wipefs|shred|blkdiscard|sgdisk)$/.test(program))
    return rest.some((word) => SYSTEM_DEVICE.test(word));
  return program === "dd" && rest.some((word) => word.startsWith("of=") && SYSTEM_DEVICE.test(word));
}

function* findPermissions(skill: ScannedSkill): Iterable<Hit> {
  for (const act of actsOf(skill, "command")) {
    const [program = "", ...words] = act.words ?? [];
    if (!/^(?:chmod|chown)$/.test(program)) continue;
    const isRecursive = words.some((word) => /^-\w*R|^--recursive/.test(word));
    const target = words
      .filter((word) => !word.startsWith("-"))
      .slice(1)
      .find((word) => EVERYTHING.test(word));
    const isForRoot =
      program === "chmod" && words.some((word) => /^(?:[ugoa]*\+[rwx]*s|[246]\d{3})$/.test(word));
    if (isRecursive && target !== undefined)
      yield actHit(act, { severity: isDocumented(act) ? "medium" : "high", detail: `\`${target}\`` });
    else if (isForRoot && !words.some((word) => /^2\d{3}$|^g\+s$/.test(word)))
      yield actHit(act, { severity: isDocumented(act) ? "low" : "medium" });
  }
}
