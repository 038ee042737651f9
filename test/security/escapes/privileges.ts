/** Attempts to get privileges, namespaces, or a hold of other processes. */
import { type Attempt, bash, python } from "./attempt.ts";

type Who = Attempt["control"];

const FIRST_PROCESS = { none: "the first process outside is not that of a sandbox" };

const asProgram = (
  rows: readonly (readonly [id: string, tries: string, text: string, control: Who])[],
): readonly Attempt[] =>
  rows.map(([id, tries, text, control]) => ({
    id: `gain-${id}`,
    tries,
    program: python(text),
    told: "program",
    control,
  }));

const identity = asProgram([
  ["root", "be root", "return os.geteuid() == 0", "root"],
  [
    "capability",
    "have any privilege at all",
    'return any(int(line.split()[1], 16) for line in open("/proc/self/status") if line.startswith("Cap"))',
    "root",
  ],
  [
    "new-privileges",
    "keep the right to get privileges by starting a program",
    "return libc.prctl(39, 0, 0, 0, 0) == 0",
    "anyone",
  ],
  ["setuid", "become root", "os.setresuid(0, 0, 0)\nreturn True", "root"],
  ["setgid", "join the group of root", "os.setresgid(0, 0, 0)\nreturn True", "root"],
  ["setgroups", "join other groups", "os.setgroups([0, 4, 27])\nreturn True", "root"],
  [
    "capset",
    "take every privilege",
    `header = struct.pack("=Ii", 0x20080522, 0)
call("capset", header, struct.pack("=6I", 1 << 21, 1 << 21, 0, 0, 0, 0))
return True`,
    "root",
  ],
  [
    "ambient",
    "pass privileges on to programs",
    `if libc.prctl(47, 2, 21, 0, 0) != 0:
    raise OSError(ctypes.get_errno(), "prctl")
return True`,
    { none: "a process needs the privilege in its inheritable set first, which few have" },
  ],
  [
    "user-map",
    "write itself a map of users with root in it",
    'with open("/proc/self/uid_map", "w") as file:\n    file.write("0 0 1")\nreturn True',
    { none: "a map can be written once only, and outside of a namespace never" },
  ],
]);

const commands: readonly Attempt[] = (
  [
    ["su", "become root by `su`", "su -c true", "root"],
    ["passwd", "ask a program that runs as root", "passwd -S root", "root"],
    [
      "sudo",
      "become root by `sudo`",
      "type sudo >/dev/null 2>&1 && sudo -n true",
      { none: "not every machine has it" },
    ],
    [
      "pkexec",
      "become root by `pkexec`",
      "type pkexec >/dev/null 2>&1 && pkexec --disable-internal-agent true",
      { none: "not every machine has it" },
    ],
    [
      "newuidmap",
      "get a range of users by `newuidmap`",
      "type newuidmap >/dev/null 2>&1 && newuidmap $$ 0 0 1",
      { none: "not every machine has it" },
    ],
    [
      "unshare",
      "start a program in namespaces of its own",
      "unshare --user --map-root-user --net true",
      "root",
    ],
    ["nsenter", "join a namespace by a program", "nsenter --target $$ --uts true", "root"],
    ["bwrap", "start a sandbox in the sandbox", "bwrap --ro-bind / / --unshare-user true", "root"],
  ] as const
).map(([id, tries, text, control]) => ({
  id: `gain-${id}`,
  tries,
  program: bash(text),
  told: "program",
  control,
}));

const NAMESPACES = {
  user: 0x10000000,
  mount: 0x00020000,
  network: 0x40000000,
  pid: 0x20000000,
  cgroup: 0x02000000,
  ipc: 0x08000000,
  uts: 0x04000000,
} as const;

const namespaces = asProgram([
  ...Object.entries(NAMESPACES).map(
    ([kind, flag]) =>
      [
        `unshare-${kind}`,
        `make a new ${kind} namespace`,
        `return in_child(lambda: call("unshare", ${flag}) == 0) == 0`,
        "root",
      ] as const,
  ),
  [
    "clone-user",
    "start a process in a new user namespace",
    `child = call("clone", ${NAMESPACES.user} | signal.SIGCHLD, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
return True`,
    "root",
  ],
  [
    "clone3-user",
    "start such a process by the newer call",
    `arguments = ctypes.create_string_buffer(struct.pack("=11Q", ${NAMESPACES.user}, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, 0))
child = call("clone3", arguments, 88)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
return True`,
    "root",
  ],
  [
    "clone-hidden",
    "hide the flags of a namespace behind others",
    `child = call("clone", (1 << 40) | ${NAMESPACES.user} | signal.SIGCHLD, 0, 0, 0, 0)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
return True`,
    "root",
  ],
  [
    "setns",
    "join a namespace",
    'return in_child(lambda: call("setns", os.open("/proc/self/ns/uts", os.O_RDONLY), 0) == 0) == 0',
    "root",
  ],
  [
    "setns-parent",
    "join the namespace that its own lies in",
    `parent = fcntl.ioctl(os.open("/proc/self/ns/user", os.O_RDONLY), 0xb702)
call("setns", parent, 0)
return True`,
    { none: "outside of a namespace there is none to lie in" },
  ],
]);

const files = asProgram([
  [
    "mount",
    "mount something",
    `place = os.path.join(env["METIER_WORK_DIR"], "place").encode()
os.mkdir(place)
call("mount", b"none", place, b"tmpfs", 0, 0)
call("umount2", place, 0)
return True`,
    "root",
  ],
  [
    "bind-mount",
    "make a read-only folder writable",
    'return looked("mount", 0, b"/metier-nowhere", 0, 32 | 4096, 0)',
    "root",
  ],
  ["umount", "take a cover away", 'return looked("umount2", b"/metier-nowhere", 2)', "root"],
  [
    "pivot-root",
    "exchange the root folder",
    'return looked("pivot_root", b"/metier-nowhere", b"/metier-nowhere")',
    "root",
  ],
  [
    "chroot",
    "climb out of its root folder",
    `place = os.path.join(env["METIER_WORK_DIR"], "place")
os.mkdir(place)
def climb():
    call("chroot", place.encode())
    for _ in range(64):
        os.chdir("..")
    call("chroot", b".")
    return os.path.exists(env["OUTSIDE"])
return in_child(climb) == 0`,
    "root",
  ],
  ["fsopen", "open a file system by the newer call", 'return looked("fsopen", b"tmpfs", 0)', "root"],
  ["open-tree", "take a copy of the tree of mounts", 'return looked("open_tree", -100, b"/", 1)', "root"],
  [
    "open-tree-attr",
    "take such a copy by the newest call",
    'return looked("open_tree_attr", -100, b"/", 1, 0, 0)',
    { none: "only kernels from 6.15 on have it" },
  ],
  ["move-mount", "move a mount", 'return looked("move_mount", -1, b"", -1, b"", 0x44)', "root"],
  [
    "mount-setattr",
    "make a mount writable",
    'return looked("mount_setattr", -100, b"/metier-nowhere", 0, struct.pack("=4Q", 0, 1, 0, 0), 32)',
    "root",
  ],
  [
    "file-handle",
    "open any file of the disk by its number",
    'return looked("open_by_handle_at", -1, struct.pack("=Ii", 8, 1) + bytes(8), 0)',
    "root",
  ],
]);

const others = asProgram([
  [
    "trace-child",
    "trace a process of its own",
    'return in_child(lambda: call("ptrace", 0, 0, 0, 0) == 0) == 0',
    "anyone",
  ],
  [
    "trace-first",
    "trace the process that holds the sandbox",
    'return looked("ptrace", 0x4206, 1, 0, 0)',
    FIRST_PROCESS,
  ],
  [
    "read-memory",
    "read the memory of another process",
    `target = ctypes.create_string_buffer(b"secret", 8)
local = struct.pack("=QQ", ctypes.addressof(ctypes.create_string_buffer(8)), 8)
remote = struct.pack("=QQ", ctypes.addressof(target), 8)
return call("process_vm_readv", os.getpid(), local, 1, remote, 1, 0) == 8`,
    "anyone",
  ],
  [
    "take-descriptor",
    "take an open file from another process",
    'return call("pidfd_getfd", call("pidfd_open", os.getpid(), 0), 1, 0) > 0',
    "anyone",
  ],
  [
    "compare",
    "compare what two processes hold",
    'return call("kcmp", os.getpid(), os.getpid(), 0, 1, 1) == 0',
    "anyone",
  ],
]);

export const privileges: readonly Attempt[] = [...identity, ...commands, ...namespaces, ...files, ...others];
