/** Attempts to change what the run may only read, or must not see. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Attempt, bash, python } from "./attempt.ts";

const FIRST_PROCESS = { none: "the first process outside is not that of a sandbox" };

/** Commands that change a file of the project or of a skill, or make one where none may be made. */
const changes: readonly Attempt[] = (
  [
    ["append", "add to a file of the project", 'echo x >> "$PROJECT/README.md"'],
    ["create", "make a file in the project", 'echo x > "$PROJECT/new.txt"'],
    ["delete", "delete a file of the project", 'rm -f "$PROJECT/README.md"'],
    ["rename", "rename a folder of the project", 'mv "$PROJECT/packages" "$PROJECT/other"'],
    ["mode", "change the mode of a file of the project", 'chmod 777 "$PROJECT/README.md"'],
    ["time", "change the time of a file of the project", 'touch -d 2001-01-01 "$PROJECT/README.md"'],
    ["skill", "change the skill that it runs", 'echo x >> "$METIER_SKILL_DIR/SKILL.md"'],
    ["skill-file", "add a script to the skill that it runs", 'echo x > "$METIER_SKILL_DIR/run.sh"'],
    ["other-skill", "change another skill", 'echo x >> "$OTHER_SKILL/SKILL.md"'],
    ["home", "write into the user's home", 'echo x >> "$HOST_HOME/.profile"'],
    ["ssh", "let itself in by SSH", 'echo key >> "$HOST_HOME/.ssh/authorized_keys"'],
    ["metier-config", "change Metier's configuration", 'echo \'backend = "none"\' >> "$METIER/config.toml"'],
    ["metier-grants", "grant itself trust", 'echo {} > "$METIER/grants.json"'],
    ["other-run", "change the results of another run", 'echo x > "$METIER/state/runs/other/work/result.txt"'],
    ["own-events", "rewrite the record of its own run", 'echo x > "$METIER_WORK_DIR/../events.jsonl"'],
    ["outside", "write beside the project", 'echo x > "$OUTSIDE/new.txt"'],
    [
      "through-link",
      "write through a link that it makes in its work folder",
      'ln -s "$OUTSIDE" "$METIER_WORK_DIR/way" && echo x > "$METIER_WORK_DIR/way/new.txt"',
    ],
    [
      "through-hard-link",
      "write through a second name of a file of the project",
      'ln "$PROJECT/README.md" "$METIER_WORK_DIR/copy" && echo x >> "$METIER_WORK_DIR/copy"',
    ],
    [
      "move-out",
      "move a file out of its work folder",
      'echo x > "$METIER_WORK_DIR/file" && mv "$METIER_WORK_DIR/file" "$OUTSIDE/file"',
    ],
    [
      "link-out",
      "put a second name of its own file outside",
      'echo x > "$METIER_WORK_DIR/file" && ln "$METIER_WORK_DIR/file" "$OUTSIDE/file"',
    ],
    [
      "replace-work-folder",
      "put a link in the place of its work folder",
      'mv "$METIER_WORK_DIR" "$METIER_WORK_DIR-old" && ln -s "$OUTSIDE" "$METIER_WORK_DIR"',
    ],
    [
      "process-folder",
      "write through the working directory of another process",
      'echo x > "/proc/$HOST_PID/cwd/outside/$MARK"',
    ],
    [
      "process-root",
      "write through the root folder of another process",
      'echo x > "/proc/$HOST_PID/root$OUTSIDE/new.txt"',
    ],
    ["shared-memory", "leave a file in the machine's `/dev/shm`", 'echo x > "$HOST_SHM.$MARK"'],
  ] as const
).map(([id, tries, text]) => ({
  id: `write-${id}`,
  tries,
  program: bash(text),
  told: "host",
  control: "anyone",
}));

/** `renameat2` with RENAME_EXCHANGE, which has no command of its own. */
const EXCHANGE = `/usr/bin/python3 -c "import ctypes, sys
sys.exit(0 if ctypes.CDLL(None).renameat2(-100, b'.git', -100, b'packages', 2) == 0 else 1)"`;

/** With `--write` the project may be changed, but not what other programs obey. */
const guarded: readonly Attempt[] = (
  [
    ["hook", "add a hook to the repository", "echo x > .git/hooks/pre-commit"],
    ["hook-link", "replace the folder of hooks by a link", "rm -rf .git/hooks && ln -s /tmp .git/hooks"],
    ["git-config", "have Git start a program", "printf '[core]\\nfsmonitor = evil\\n' >> .git/config"],
    [
      "git-rename",
      "replace the whole repository",
      "mv .git .git-old && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit",
    ],
    ["git-commondir", "lead Git to another repository", "echo /tmp > .git/commondir"],
    ["mcp", "add a server that agents start", "echo x > .mcp.json"],
    ["envrc", "add a file that shells source", "echo x > .envrc"],
    ["editor-task", "add a task that the editor starts", "mkdir -p .vscode && echo x > .vscode/tasks.json"],
    [
      "agent-settings",
      "change the settings of an agent",
      "mkdir -p .claude && echo x > .claude/settings.json",
    ],
    ["metier-folder", "change the project's own Metier configuration", "echo x >> .metier/config.toml"],
    ["exchange", "exchange `.git` with a folder of its own in one step", EXCHANGE],
  ] as const
).map(([id, tries, text]) => ({
  id: `write-guarded-${id}`,
  tries,
  program: bash(`cd "$PROJECT" && { ${text}; }`),
  told: "host",
  world: "writable",
  control: "anyone",
}));

/** A file of that name anywhere but in the sandbox's own folders. */
const PLACES = ["/usr", "/usr/bin", "/etc", "/", "/run", "/dev", "/var/tmp", "/opt"];

const systemPlaces: readonly Attempt[] = PLACES.map((place) => ({
  id: `write-system${place === "/" ? "-root" : place.replaceAll("/", "-")}`,
  tries: `make a file in \`${place}\``,
  program: bash(`echo x > "$METIER_WORK_DIR/$MARK" || return 127
echo x > "${place}/$MARK"`),
  told: "host",
  harm: ({ mark }) => (existsSync(join(place, mark)) ? `\`${place}\` has a new file` : undefined),
  control: { none: "it would change the machine; the program makes such a file in the work folder first" },
}));

/** Opened, never written to. */
const settings: readonly Attempt[] = (
  [
    ["core-pattern", "name the program that the machine starts at a crash", "/proc/sys/kernel/core_pattern"],
    ["hostname", "change settings of the kernel", "/proc/sys/kernel/domainname"],
    ["overcommit", "change how the machine shares its memory", "/proc/sys/vm/overcommit_memory"],
    ["file-limit", "change limits of the file system", "/proc/sys/fs/file-max"],
    ["first-process", "change the process that holds the sandbox", "/proc/1/mem"],
    ["first-process-score", "have the machine end that process first", "/proc/1/oom_score_adj"],
  ] as const
).map(([id, tries, path]) => ({
  id: `write-setting-${id}`,
  tries,
  program: python(`os.close(os.open("${path}", os.O_WRONLY))\nreturn True`),
  told: "program",
  control: path.startsWith("/proc/1/") ? FIRST_PROCESS : "root",
}));

export const writing: readonly Attempt[] = [
  ...changes,
  ...guarded,
  ...systemPlaces,
  ...settings,
  {
    id: "write-any-setting",
    tries: "find any file of `/proc` that changes the machine",
    program: python(`
found = []
for folder, folders, files in os.walk("/proc"):
    if folder == "/proc":
        folders[:] = [name for name in folders if not name.isdigit() and name not in ("self", "thread-self")]
    for name in files:
        try:
            os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK))
            found.append(os.path.join(folder, name))
        except OSError:
            pass
print(found[:5])
return len(found) > 0`),
    told: "program",
    control: "root",
  },
  {
    id: "write-sandbox-program",
    tries: "rewrite the program that makes the sandbox",
    program: python(`
try:
    os.close(os.open("/proc/1/exe", os.O_WRONLY))
except OSError as error:
    if error.errno == errno.ETXTBSY:
        return True # Only because it runs just now.
    raise
return True`),
    told: "program",
    control: FIRST_PROCESS,
  },
  {
    id: "write-own-program",
    tries: "change the Node that Metier runs with",
    program: bash('path=$(realpath "$(type -p node)") && chmod --reference "$path" "$path"'),
    told: "program",
    control: "root",
  },
  {
    id: "write-setuid-file",
    tries: "leave a program that runs as its owner",
    program: bash(
      'cp /bin/true "$METIER_WORK_DIR/own" && chmod u+s "$METIER_WORK_DIR/own" && test -u "$METIER_WORK_DIR/own"',
    ),
    told: "program",
    control: "anyone",
  },
  {
    id: "write-setuid-file-raw",
    tries: "leave such a program by calls that shells do not use",
    program: python(`
path = os.path.join(env["METIER_WORK_DIR"], "own")
os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o700))
for change in (
    lambda: os.fchmod(os.open(path, os.O_RDONLY), 0o6755),
    lambda: call("fchmodat2", -100, path.encode(), 0o4755, 0),
    lambda: os.close(os.open(path + "2", os.O_CREAT | os.O_WRONLY, 0o4755)),
):
    try:
        change()
    except OSError:
        pass
with open(path + "2", "wb") as file:
    file.write(b"program")
return any(os.stat(each).st_mode & 0o6000 for each in (path, path + "2"))`),
    told: "program",
    control: "anyone",
  },
  {
    id: "write-file-capability",
    tries: "leave a program that has privileges",
    program: python(`
path = os.path.join(env["METIER_WORK_DIR"], "own")
open(path, "w").close()
os.setxattr(path, "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 21, 0, 0, 0))
return True`),
    told: "program",
    control: "root",
  },
  {
    id: "write-device-node",
    tries: "make a device file for the disk",
    program: bash('mknod "$METIER_WORK_DIR/disk" b 8 0'),
    told: "program",
    control: "root",
  },
  {
    id: "write-memory-device",
    tries: "make a device file for the memory of the machine",
    program: bash("mknod /tmp/memory-$MARK c 1 1 && rm /tmp/memory-$MARK"),
    told: "program",
    control: "root",
  },
  {
    id: "write-owner",
    tries: "give a file to another user",
    program: bash('echo x > "$METIER_WORK_DIR/file" && chown 12345 "$METIER_WORK_DIR/file"'),
    told: "program",
    control: "root",
  },
];
