/**
 * The system calls denied to a sandboxed program, as data and as the filter that bubblewrap loads into the kernel.
 * Everything else is allowed: namespaces provide the isolation, this only reduces what can be tried against them.
 */

/** Call → its number on x64 and arm64, if the machine has it. */
type Calls = Readonly<Record<string, readonly [x64: number, arm64?: number]>>;

const REFUSED_CALLS: Calls = {
  // other processes
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  // mounts and namespaces
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  unshare: [272, 97],
  setns: [308, 268],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  // keyrings, which no namespace separates
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // large and often buggy parts of the kernel
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  modify_ldt: [154],
  uselib: [134],
  nfsservctl: [180, 42],
  // the machine itself
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  syslog: [103, 116],
  vhangup: [153, 58],
  iopl: [172],
  ioperm: [173],
};

/** These fail as on a kernel without the call, so that programs use their fallback. */
const MISSING_CALLS: Calls = {
  clone3: [435, 435], // Its flags are in memory, which a filter cannot read; those of `clone` are not.
  // memory that belongs to no process, so no watchdog could attribute it
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  msgget: [68, 186],
};

/** Calls newer than this table and, on x64, the x32 convention, whose numbers are all larger. */
const FIRST_UNKNOWN_CALL = 457;

/** Typing into our user's terminal: TIOCSTI, and TIOCLINUX, which can paste. */
const REFUSED_IOCTLS = [0x5412, 0x541c];
/** Unix, IPv4, IPv6 and netlink (which lists interfaces). Not vsock, which reaches out of a virtual machine. */
const ALLOWED_SOCKET_FAMILIES = [1, 2, 10, 16];
/** Linux, 32-bit Linux, and the query. Other values weaken memory protection. */
const ALLOWED_PERSONALITIES = [0, 8, 0xffffffff];
/** New namespaces of any kind. */
const NAMESPACE_FLAGS = 0x7e020000;
/** Outside, a setuid program would run as the user. Writing to a file clears these bits. */
const OWNER_BITS = 0o6000;

interface Machine {
  /** As in `seccomp_data.arch`. */
  readonly audit: number;
  readonly column: 0 | 1;
  readonly ioctl: number;
  readonly socket: number;
  readonly clone: number;
  readonly personality: number;
  /** Calls that set a file's mode, and which argument it is. */
  readonly chmods: Readonly<Record<number, number>>;
}

const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    column: 0,
    ioctl: 16,
    socket: 41,
    clone: 56,
    personality: 135,
    chmods: { 90: 1, 91: 1, 268: 2, 452: 2 },
  },
  arm64: {
    audit: 0xc00000b7,
    column: 1,
    ioctl: 29,
    socket: 198,
    clone: 220,
    personality: 92,
    chmods: { 52: 1, 53: 2, 452: 2 },
  },
};

const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_AT_LEAST = 0x35;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const failWith = (errno: number): number => 0x00050000 | errno;
const REFUSE = failWith(1); // EPERM
const NO_SUCH_CALL = failWith(38); // ENOSYS
const NO_SUCH_FAMILY = failWith(97); // EAFNOSUPPORT

/** Offsets in `struct seccomp_data`; the low half of an argument, since both machines are little-endian. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number): number => 16 + 8 * index;

/** One filter instruction: code, jump if true, jump if false, operand. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

/** The filter for a machine in kernel format; `undefined` if its calls are not in the table. */
export function buildSeccompFilter(machine: string = process.arch): Buffer | undefined {
  const found = MACHINES[machine];
  if (!found) return undefined;
  const answerAll = (calls: Calls, answer: number): readonly Instruction[] =>
    Object.values(calls).flatMap((row) => {
      const number = row[found.column];
      return number === undefined ? [] : answerIf(number, answer);
    });
  return encode([
    [LOAD, 0, 0, ARCHITECTURE],
    [JUMP_IF_EQUAL, 1, 0, found.audit],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER],
    [JUMP_IF_AT_LEAST, 0, 1, FIRST_UNKNOWN_CALL],
    [RETURN, 0, 0, NO_SUCH_CALL],
    ...answerAll(REFUSED_CALLS, REFUSE),
    ...answerAll(MISSING_CALLS, NO_SUCH_CALL),
    ...checkArgument(found.ioctl, 1, answerValues(REFUSED_IOCTLS, REFUSE, ALLOW)),
    ...checkArgument(found.socket, 0, answerValues(ALLOWED_SOCKET_FAMILIES, ALLOW, NO_SUCH_FAMILY)),
    ...checkArgument(found.personality, 0, answerValues(ALLOWED_PERSONALITIES, ALLOW, REFUSE)),
    ...checkArgument(found.clone, 0, refuseBits(NAMESPACE_FLAGS)),
    ...Object.entries(found.chmods).flatMap(([call, mode]) =>
      checkArgument(Number(call), mode, refuseBits(OWNER_BITS)),
    ),
    [RETURN, 0, 0, ALLOW],
  ]);
}

function answerIf(value: number, answer: number): readonly Instruction[] {
  return [
    [JUMP_IF_EQUAL, 0, 1, value],
    [RETURN, 0, 0, answer],
  ];
}

function answerValues(values: readonly number[], answer: number, otherwise: number): readonly Instruction[] {
  return [...values.flatMap((value) => answerIf(value, answer)), [RETURN, 0, 0, otherwise]];
}

function refuseBits(bits: number): readonly Instruction[] {
  return [
    [JUMP_IF_ANY_BIT, 0, 1, bits],
    [RETURN, 0, 0, REFUSE],
    [RETURN, 0, 0, ALLOW],
  ];
}

/** For one call: `checks` on one of its arguments, which always return. */
function checkArgument(call: number, index: number, checks: readonly Instruction[]): readonly Instruction[] {
  return [[JUMP_IF_EQUAL, 0, checks.length + 1, call], [LOAD, 0, 0, argument(index)], ...checks];
}

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, [code, ifTrue, ifFalse, operand]] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  }
  return bytes;
}
