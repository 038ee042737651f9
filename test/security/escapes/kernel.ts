/** Attempts against the kernel and the machine as a whole, by system calls with arguments that change nothing. */
import { type Attempt, python } from "./attempt.ts";

type Row = readonly [id: string, tries: string, text: string, control: Attempt["control"]];

const NOT_EVERYWHERE = { none: "not every kernel has it, or leaves it to anyone" };

const rows: readonly Row[] = [
  [
    "add-key",
    "put a key into the user's keyring",
    'return call("add_key", b"user", b"metier-escape", b"x", 1, -1) > 0',
    "anyone",
  ],
  ["keyctl", "look into the user's keyring", 'return looked("keyctl", 0, -4, 0, 0, 0)', "anyone"],
  [
    "request-key",
    "have the machine fetch a key",
    'return looked("request_key", b"user", b"metier-nowhere", 0, 0)',
    "anyone",
  ],
  [
    "bpf",
    "load a program into the kernel",
    'return looked("bpf", 0, struct.pack("=5I", 2, 4, 4, 1, 0) + bytes(100), 20)',
    "root",
  ],
  [
    "perf",
    "watch the processor",
    'return looked("perf_event_open", struct.pack("=IIQ", 1, 112, 0) + bytes(96), 0, -1, -1, 0)',
    NOT_EVERYWHERE,
  ],
  [
    "userfaultfd",
    "handle page faults, as many exploits do",
    'return call("userfaultfd", 1) > 0',
    NOT_EVERYWHERE,
  ],
  [
    "io-uring",
    "pass calls to the kernel that no filter sees",
    'return call("io_uring_setup", 1, bytes(120)) > 0',
    NOT_EVERYWHERE,
  ],
  ["fanotify", "watch every file of the machine", 'return looked("fanotify_init", 0, 0)', "root"],
  ["kexec", "start another kernel", 'return looked("kexec_load", 0, 0, 0, 0xdead0000)', NOT_EVERYWHERE],
  [
    "kexec-file",
    "start another kernel from a file",
    'return looked("kexec_file_load", -1, -1, 0, 0, 0xdead0000)',
    NOT_EVERYWHERE,
  ],
  ["init-module", "load a module into the kernel", 'return looked("init_module", 0, 0, b"")', NOT_EVERYWHERE],
  ["finit-module", "load a module from a file", 'return looked("finit_module", -1, b"", 0)', NOT_EVERYWHERE],
  [
    "delete-module",
    "unload a module of the kernel",
    'return looked("delete_module", b"metier_nowhere", 0o4000)',
    NOT_EVERYWHERE,
  ],
  ["reboot", "restart the machine", 'return looked("reboot", 0, 0, 0, 0)', "root"],
  ["swap-on", "give the machine a swap file", 'return looked("swapon", 0, 0)', NOT_EVERYWHERE],
  ["swap-off", "take the machine's swap away", 'return looked("swapoff", 0)', NOT_EVERYWHERE],
  ["accounting", "have every process of the machine recorded", 'return looked("acct", 1)', NOT_EVERYWHERE],
  ["quota", "change quotas of the disk", 'return looked("quotactl", 0x80000700, 0, 0, 0)', NOT_EVERYWHERE],
  ["set-time", "set the machine's clock", 'return looked("clock_settime", 0, 1)', "root"],
  ["set-time-of-day", "set the clock by the older call", 'return looked("settimeofday", 0, 0)', "root"],
  ["adjust-time", "let the clock run faster", 'return looked("clock_adjtime", 0, 1)', "anyone"],
  ["hostname", "rename the machine", 'return looked("sethostname", 1, 8)', "root"],
  ["kernel-log", "read the kernel's messages by a call", 'return call("syslog", 10, 0, 0) >= 0', "root"],
  [
    "personality",
    "weaken the protection of memory",
    'return call("personality", 0x0400000) >= 0 and call("personality", 0) & 0x0400000',
    "anyone",
  ],
  [
    "hidden-memory",
    "hold memory that belongs to no process",
    'return call("memfd_create", b"x", 0) > 0',
    "anyone",
  ],
  [
    "shared-memory",
    "hold shared memory that outlives its process",
    `segment = call("shmget", 0, 4096, 0o1600)
call("shmctl", segment, 0, 0)
return True`,
    "anyone",
  ],
  [
    "old-entry",
    "call the kernel as a 32-bit program, by other numbers",
    `if COLUMN != 0:
    return False
def enter():
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3])) # getpid by int 0x80
    start = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(start)() == os.getpid()
return in_child(enter) == 0`,
    NOT_EVERYWHERE,
  ],
  [
    "other-numbers",
    "call the kernel by the numbers of another convention",
    `if COLUMN != 0:
    return False
return in_child(lambda: libc.syscall(ctypes.c_long(0x40000000 + 39)) == os.getpid()) == 0`,
    NOT_EVERYWHERE,
  ],
  [
    "newest-calls",
    "call what no filter of today knows",
    `def known(number):
    ctypes.set_errno(0)
    return libc.syscall(ctypes.c_long(number), -1, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != errno.ENOSYS
assert known(39) and known(434), "this program cannot call by number"
return any(known(number) for number in range(457, 520))`,
    NOT_EVERYWHERE,
  ],
];

export const kernel: readonly Attempt[] = rows.map(([id, tries, text, control]) => ({
  id: `kernel-${id}`,
  tries,
  program: python(text),
  told: "program",
  control,
}));
