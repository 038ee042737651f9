/**
 * What an attempt to get out of a sandbox is: a program, what it is after, and how it is told whether it got there. The
 * attempts themselves are data, in the files beside this one, and run over any backend.
 */
import type { CommandOutcome, SandboxLimits } from "@metier/sandbox";
import type { Stage } from "./stage.ts";

export interface Attempt {
  readonly id: string;
  /** What it tries: "read the password hashes of the machine". */
  readonly tries: string;
  readonly program: Program;
  /**
   * `host`: only what the machine shows counts: the secret in the output, a changed file, a server that heard of it, a
   * process that is left or harmed. `program`: besides, its own word, where the machine cannot see whether it succeeded.
   */
  readonly told: "host" | "program";
  /** Which world it starts in. Default: `trusted`. */
  readonly world?: "trusted" | "writable" | "untrusted" | "home";
  readonly limits?: Partial<SandboxLimits>;
  /** How it may end without a word of its own. A program that ends otherwise and says nothing is broken. */
  readonly endings?: readonly CommandOutcome["ended"][];
  /** What else the host looks at: says what is wrong, if anything. */
  readonly harm?: (stage: Stage, outcome: CommandOutcome) => string | undefined;
  readonly control: Control;
  /** What its control needs of the machine. */
  readonly needs?: "ipv6";
}

/**
 * How we know that the attempt is a real one: the same program succeeds without a sandbox, for `anyone` or only for
 * `root`. Or why that is not shown: because it would do harm, or because it proves itself in another way.
 */
export type Control = "anyone" | "root" | { readonly none: string };

export interface Program {
  readonly language: "bash" | "python" | "node";
  readonly argv: readonly string[];
}

/** For a search of folders that may hold millions of files of others: a temporary folder, `/var`. */
export const LONG_SEARCH: Partial<SandboxLimits> = { timeoutMs: 240_000 };

/** A shell function: it succeeds when the attempt does. A program that it does not find makes it broken, not contained. */
export function bash(text: string): Program {
  const script = `attempt() {\n${text}\n}
attempt
status=$?
case $status in
  0) echo ESCAPED ;;
  127) echo "BROKEN: a program is missing" ;;
  *) echo "HELD: status $status" ;;
esac`;
  return { language: "bash", argv: ["bash", "-c", script, "bash"] };
}

/** The body of a Python function: it returns whether the attempt succeeded. A refusal by the system is an `OSError`. */
export function python(text: string): Program {
  const body = text.replace(/^/gm, "    ");
  const script = `${PYTHON_PRELUDE}
def attempt():
${body}
try:
    escaped = attempt()
except (OSError, MemoryError) as error:
    print("HELD:", repr(error), flush=True)
else:
    print("ESCAPED" if escaped else "HELD", flush=True)
`;
  return { language: "python", argv: ["/usr/bin/python3", "-c", script] };
}

/** The body of an asynchronous function, as above. A refusal by the system is an error with a code. */
export function node(text: string): Program {
  const script = `const attempt = async () => {\n${text}\n};
attempt().then(
  (escaped) => console.log(escaped ? "ESCAPED" : "HELD"),
  (error) => {
    const code = error.code ?? error.cause?.code;
    if (typeof code !== "string" || code.startsWith("ERR_")) throw error;
    console.log("HELD: " + code);
  },
);`;
  return { language: "node", argv: ["node", "-e", script] };
}

/** `call` makes a system call by name; `looked` says whether the kernel even considered one. */
const PYTHON_PRELUDE = `
import ctypes, errno, fcntl, mmap, os, resource, signal, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
env = os.environ
COLUMN = {"x86_64": 0, "aarch64": 1}[os.uname().machine]
NUMBERS = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "clone": (56, 220), "clone3": (435, 435), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fspick": (433, 433), "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "fanotify_init": (300, 262), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "quotactl": (179, 60), "settimeofday": (164, 170),
    "clock_settime": (227, 112), "clock_adjtime": (305, 266), "sethostname": (170, 161), "syslog": (103, 116),
    "personality": (135, 92), "capset": (126, 91), "memfd_create": (319, 279), "shmget": (29, 194),
    "shmat": (30, 196), "shmctl": (31, 195), "fchmodat2": (452, 452), "ioctl": (16, 29),
}
def call(name, *args):
    libc.syscall.restype = ctypes.c_long
    words = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    result = libc.syscall(ctypes.c_long(NUMBERS[name][COLUMN]), *words)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result
def looked(name, *args):
    try:
        call(name, *args)
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS):
            raise
    return True
def in_child(work):
    """The status of a child that does the work; a refusal is told by the error's number."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 200)
        except OSError as error:
            os._exit(error.errno)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
`;
