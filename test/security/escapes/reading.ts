/** Attempts to read what the run was not given. */
import { type Attempt, bash, LONG_SEARCH, node, python } from "./attempt.ts";

/** Files with the secret in them, at paths that the attempt is told. */
const planted: readonly Attempt[] = (
  [
    ["home-file", "read a file of the user's home", "$HOST_HOME/notes.txt"],
    ["ssh-key", "read the user's SSH key", "$HOST_HOME/.ssh/id_ed25519"],
    ["cloud-key", "read the user's cloud credentials", "$HOST_HOME/.aws/credentials"],
    ["other-skill", "read the folder of another skill", "$OTHER_SKILL/SKILL.md"],
    ["metier-config", "read Metier's configuration", "$METIER/config.toml"],
    ["metier-grants", "read what the user has granted", "$METIER/grants.json"],
    ["metier-vault", "read Metier's vault", "$METIER/vault/key"],
    ["other-data", "read the data folder of another skill", "$METIER/data/other/store.json"],
    ["other-run", "read the work folder of another run", "$METIER/state/runs/other/work/result.txt"],
    [
      "own-events",
      "read the record of its own run, beside the work folder",
      "$METIER_WORK_DIR/../events.jsonl",
    ],
    ["dot-env", "read the secrets of the project it works on", "$PROJECT/.env"],
    ["nested-dot-env", "read secrets deeper in the project", "$PROJECT/packages/app/.env.local"],
    ["loaded-config", "read a configuration file that Metier has loaded", "$PROJECT/.metier/config.toml"],
    ["neighbour", "read a folder beside the project", "$OUTSIDE/secret.txt"],
    ["dot-dot", "climb out of the work folder", "$METIER_WORK_DIR/../../../../../../outside/secret.txt"],
    ["shared-memory-file", "read a file in the machine's `/dev/shm`", "$HOST_SHM"],
  ] as const
).map(([id, tries, path]) => ({
  id: `read-${id}`,
  tries,
  program: bash(`cat "${path}"`),
  told: "host",
  control: "anyone",
}));

/** The same with the home as the working directory, where only the secrets are hidden. */
const inHome: readonly Attempt[] = (
  [
    ["ssh-key", ".ssh/id_ed25519"],
    ["cloud-key", ".aws/credentials"],
    ["metier-config", ".metier/config.toml"],
    ["other-run", ".metier/state/runs/other/work/result.txt"],
  ] as const
).map(([id, path]) => ({
  id: `read-in-home-${id}`,
  tries: `read \`${path}\` when it may work in the home`,
  program: bash(`cat "${path}"`),
  told: "host",
  world: "home",
  control: "anyone",
}));

export const reading: readonly Attempt[] = [
  ...planted,
  ...inHome,
  {
    id: "read-project-untrusted",
    tries: "read the project, although the run is untrusted",
    program: bash('cat "$PROJECT/README.md"'),
    told: "host",
    world: "untrusted",
    control: "anyone",
  },
  {
    id: "read-through-link",
    tries: "read through a link that it makes in its work folder",
    program: bash('ln -s "$OUTSIDE" "$METIER_WORK_DIR/way" && cat "$METIER_WORK_DIR/way/secret.txt"'),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-through-hard-link",
    tries: "take a second name of a file outside into its work folder",
    program: bash('ln "$OUTSIDE/secret.txt" "$METIER_WORK_DIR/copy" && cat "$METIER_WORK_DIR/copy"'),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-link-left-behind",
    tries: "leave a link to a secret in its work folder for Metier to read",
    program: bash('ln -s "$OUTSIDE/secret.txt" "$METIER_WORK_DIR/result.txt"; false'),
    told: "host",
    harm: (stage) => stage.readByTools("result.txt"),
    control: { none: "what follows the link are Metier's own tools, which the host asks" },
  },
  {
    id: "read-shadow",
    tries: "read the password hashes of the machine",
    program: bash("grep : /etc/shadow"),
    told: "program",
    control: "root",
  },
  {
    id: "read-users",
    tries: "learn who has an account on the machine",
    program: bash("grep ^root: /etc/passwd"),
    told: "program",
    control: "anyone",
  },
  {
    id: "read-root-home",
    tries: "look into the home of root",
    program: bash("ls -A /root | grep -a ."),
    told: "program",
    control: "root",
  },
  {
    id: "read-system-folders",
    tries: "look into the machine's own folders",
    program: bash("ls -d /var/lib/* /boot/* /var/log/* /opt/* /srv/* /run/lock 2>/dev/null | grep -a ."),
    told: "program",
    control: "anyone",
  },
  {
    id: "read-sysfs",
    tries: "look at the devices of the machine in `/sys`",
    program: bash("ls /sys/class | grep -a ."),
    told: "program",
    control: "anyone",
  },
  {
    id: "read-machine-temporary",
    tries: "find files of other programs in the temporary folder",
    program: bash('find "$HOST_TMP" -maxdepth 4 -name secret.txt -exec cat {} + | grep -a .'),
    limits: LONG_SEARCH,
    told: "host",
    control: "anyone",
  },
  {
    id: "read-environment",
    tries: "find Metier's environment in its own",
    program: bash('env | grep "$METIER_TEST_NAME="'),
    told: "host",
    control: {
      none: "no backend passes Metier's environment on; `read-parent-environment` shows that it is there",
    },
  },
  {
    id: "read-parent-environment",
    tries: "read the environment of the process that started it",
    program: bash("cat /proc/$PPID/environ /proc/1/environ | tr '\\0' '\\n' | grep -a ."),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-host-environment",
    tries: "read the environment of Metier by its number",
    program: bash("cat /proc/$HOST_PID/environ"),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-every-environment",
    tries: "read the environment of every process it sees",
    program: bash("cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep METIER_ESCAPE_"),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-process-root",
    tries: "go through the root folder of every process it sees",
    program: bash('cat /proc/[0-9]*/root"$OUTSIDE/secret.txt" 2>/dev/null | grep -a .'),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-process-folder",
    tries: "go through the working directory of every process it sees",
    program: bash("cat /proc/[0-9]*/cwd/outside/secret.txt 2>/dev/null | grep -a ."),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-process-files",
    tries: "open the files that other processes have open",
    program: bash(
      'for file in /proc/[0-9]*/fd/*; do if [ -f "$file" ] && [ -s "$file" ]; then head -c 200 "$file"; fi; done 2>/dev/null | grep -a .',
    ),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-inherited-descriptors",
    tries: "use a file that was open in the process that started Metier",
    program: python(`
own = os.open("/dev/null", os.O_RDONLY)
names = {number: os.readlink("/proc/self/fd/%d" % number) for number in range(3, 4096) if os.path.exists("/proc/self/fd/%d" % number)}
assert names.pop(own) == "/dev/null", "this program does not see its own files"
left = [name for name in names.values() if name != "/dev/null"]
for number in names:
    if names[number].startswith("/") and os.path.isfile(names[number]):
        print(os.pread(number, 200, 0))
return print(left) if not left else True`),
    told: "program",
    control: {
      none: "no backend passes them on; the suite is started with one open, and the program finds its own",
    },
  },
  {
    id: "read-mounted-places",
    tries: "find the secret below every mount it knows of",
    program: bash(
      'while read -r _ _ _ _ place _; do cat "$place$OUTSIDE/secret.txt" "$place/outside/secret.txt"; done 2>/dev/null </proc/self/mountinfo | grep -a .',
    ),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-old-root",
    tries: "find the root folder that the sandbox was made from",
    program: bash('cat /oldroot"$OUTSIDE/secret.txt" /newroot"$OUTSIDE/secret.txt" /.."$OUTSIDE/secret.txt"'),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-keys",
    tries: "list the keys that the kernel keeps for the user",
    program: bash("grep . /proc/keys"),
    told: "program",
    control: "root",
  },
  {
    id: "read-kernel-memory",
    tries: "read the memory of the kernel",
    program: bash("head -c 16 /proc/kcore | grep -q . || head -c 16 /dev/mem | grep -q ."),
    told: "program",
    control: { none: "not every kernel has these files" },
  },
  {
    id: "read-kernel-addresses",
    tries: "learn where the kernel lies in memory",
    program: bash("grep -v '^0000000000000000 ' /proc/kallsyms | grep -q ."),
    told: "program",
    control: { none: "many kernels hide them from everyone" },
  },
  {
    id: "read-kernel-pages",
    tries: "read what the kernel shows only to root",
    program: bash("head -c 8 /proc/kpageflags | grep -q . || head -c 8 /proc/slabinfo | grep -a ."),
    told: "program",
    control: "root",
  },
  {
    id: "read-kernel-log",
    tries: "read the messages of the kernel",
    program: bash("dd if=/dev/kmsg iflag=nonblock bs=4096 count=1 | grep -a ."),
    told: "program",
    control: "root",
  },
  {
    id: "read-disk",
    tries: "read the disk itself",
    program: python(`
import glob
disks = [path for pattern in ("vd?", "sd?", "nvme?n?", "xvd?", "loop?", "dm-?") for path in glob.glob("/dev/" + pattern)]
return any(len(os.pread(os.open(disk, os.O_RDONLY), 512, 0)) > 0 for disk in disks)`),
    told: "program",
    control: { none: "not every machine has a disk of its own" },
  },
  {
    id: "read-first-process-memory",
    tries: "read the memory of the process that holds the sandbox",
    program: python(`
with open("/proc/1/maps") as maps:
    first = int(maps.read().split("-")[0], 16)
return len(os.pread(os.open("/proc/1/mem", os.O_RDONLY), 16, first)) > 0`),
    told: "program",
    control: { none: "the first process outside is not that of a sandbox" },
  },
  {
    id: "read-shared-memory-segment",
    tries: "attach to shared memory of the machine",
    program: python(`
libc.shmat.restype = ctypes.c_void_p
segment = call("shmget", int(env["SHM_KEY"]), 0, 0)
address = libc.shmat(segment, None, 0o10000)
print(ctypes.string_at(address, 64))
return True`),
    told: "host",
    control: "anyone",
  },
  {
    id: "read-with-node",
    tries: "read a file outside with Node",
    program: node(
      'console.log(require("node:fs").readFileSync(process.env.OUTSIDE + "/secret.txt", "utf8")); return true;',
    ),
    told: "host",
    control: "anyone",
  },
];
