/** Attempts to take more of the machine than a run is given. Each stops by itself at a size that says it was not held. */
import { type Attempt, bash, python } from "./attempt.ts";

const MEGABYTE = 1024 * 1024;

/** Small, so that the attempts hurt nobody. */
export const SMALL_LIMITS = {
  timeoutMs: 20_000,
  maxOutputBytes: 10_000,
  maxProcesses: 50,
  maxMemoryBytes: 256 * MEGABYTE,
  maxFileBytes: 10 * MEGABYTE,
  maxWorkBytes: 20 * MEGABYTE,
};

const TOO_DANGEROUS = { none: "without a sandbox it would harm the machine" };

const rows: readonly (readonly [
  id: string,
  tries: string,
  program: Attempt["program"],
  more?: Partial<Attempt>,
])[] = [
  [
    "fork-bomb",
    "double its processes until nothing else runs",
    bash(":() { : | : & }; :; sleep 15"),
    { endings: ["limit"] },
  ],
  [
    "fork-bomb-sessions",
    "do so with processes that leave their parents",
    python(`
for _ in range(2000):
    if os.fork() == 0:
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        time.sleep(600)
    os.wait()
time.sleep(5)
return True`),
    { endings: ["limit"] },
  ],
  [
    "threads",
    "start thousands of threads",
    python(`
import threading
threading.stack_size(65536)
try:
    for _ in range(4000):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
except RuntimeError as error:
    print("HELD:", error, flush=True)
    os._exit(0)
time.sleep(12)
print("ESCAPED", flush=True)
os._exit(0)`),
    { endings: ["limit"] },
  ],
  [
    "memory",
    "take all memory in one process",
    python(
      "held = []\nwhile len(held) < 200:\n    held.append(bytearray(b'x') * 10_000_000)\ntime.sleep(12)\nreturn True",
    ),
    { endings: ["limit", "signalled"] },
  ],
  [
    "memory-many",
    "take all memory in many small processes",
    python(`
for _ in range(30):
    if os.fork() == 0:
        held = bytearray(b"x") * 60_000_000
        time.sleep(600)
time.sleep(10)
return True`),
    { endings: ["limit", "signalled"] },
  ],
  [
    "memory-shared",
    "take memory that is mapped but seems unused",
    python(`
held = []
while len(held) < 40:
    part = mmap.mmap(-1, 50_000_000)
    part.write(b"x" * 50_000_000)
    part.madvise(mmap.MADV_DONTNEED)
    held.append(part)
time.sleep(12)
return True`),
    { endings: ["limit", "signalled"] },
  ],
  [
    "memory-files",
    "take memory as files in the temporary folders",
    python(`
total = 0
for folder in ("/tmp", "/dev/shm"):
    for number in range(60):
        with open("%s/part-%d" % (folder, number), "wb") as file:
            total += file.write(b"x" * 10_000_000)
return total > 900_000_000`),
    { endings: ["limit"] },
  ],
  [
    "pipes",
    "take memory of the kernel in pipes",
    python(`
total = 0
while total < 1_000_000_000:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        fcntl.fcntl(writing, 1031, 1048576)
    except OSError:
        pass
    total += os.write(writing, b"x" * 1048576)
return True`),
    { endings: ["limit"] },
  ],
  [
    "disk",
    "fill the disk with many files",
    bash(
      'i=0; while [ $i -lt 2000 ]; do head -c 5000000 /dev/zero > "$METIER_WORK_DIR/part-$i" || return 1; i=$((i+1)); done; test -s "$METIER_WORK_DIR/part-0"',
    ),
    { endings: ["limit"] },
  ],
  [
    "disk-unnamed",
    "fill the disk with files that have no name",
    python(`
held = []
for number in range(900):
    path = os.path.join(env["METIER_WORK_DIR"], "part")
    file = open(path, "wb")
    os.unlink(path)
    file.write(b"x" * 5_000_000)
    file.flush()
    held.append(file)
time.sleep(12)
return True`),
    { endings: ["limit"] },
  ],
  [
    "disk-large-file",
    "make one file as large as the disk",
    python(`
with open(os.path.join(env["METIER_WORK_DIR"], "large"), "wb") as file:
    file.truncate(1 << 40)
return True`),
    { endings: ["signalled"] },
  ],
  [
    "disk-reserved",
    "have the disk reserved without writing",
    python(`
file = os.open(os.path.join(env["METIER_WORK_DIR"], "large"), os.O_CREAT | os.O_RDWR)
os.posix_fallocate(file, 0, 1 << 30)
return True`),
    { endings: ["signalled"] },
  ],
  [
    "disk-entries",
    "fill the disk with empty files",
    python(`
folder = os.path.join(env["METIER_WORK_DIR"], "many")
os.mkdir(folder)
for number in range(40_000):
    os.close(os.open("%s/%0200d" % (folder, number), os.O_CREAT | os.O_WRONLY))
time.sleep(40)
return True`),
    { endings: ["limit"], limits: { ...SMALL_LIMITS, timeoutMs: 60_000, maxWorkBytes: MEGABYTE } },
  ],
  [
    "open-files",
    "open files until the machine has no more",
    python(`
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(200_000)]
return True`),
  ],
  ["output", "write more than can be kept", bash('while :; do echo "$LONG"; done'), { endings: ["limit"] }],
  [
    "output-errors",
    "write more errors than can be kept, without a line's end",
    bash('while :; do printf %s "$LONG" >&2; done'),
    { endings: ["limit"] },
  ],
  [
    "output-both",
    "write to both streams at once, as fast as it can",
    bash('while :; do echo "$LONG" >&2; done & while :; do printf %s "$LONG"; done'),
    { endings: ["limit"] },
  ],
  [
    "processor",
    "keep every processor busy for ever",
    bash("while :; do :; done & while :; do :; done & while :; do :; done"),
    { endings: ["timeout"], limits: { ...SMALL_LIMITS, timeoutMs: 2_000 } },
  ],
  [
    "deep-folders",
    "make folders deeper than any path is long",
    python(`
os.chdir(env["METIER_WORK_DIR"])
for _ in range(400):
    os.mkdir("d" * 100)
    os.chdir("d" * 100)
open("bottom", "w").close()
return False`),
    { endings: ["limit"], harm: (stage) => stage.cannotList() ?? stage.cannotRemove() },
  ],
  [
    "link-loops",
    "leave links that lead round in circles",
    bash(
      'cd "$METIER_WORK_DIR" && ln -s . round && ln -s b a && ln -s a b && mkdir c && ln -s ../c c/c && ln -s / top; return 1',
    ),
    { harm: (stage) => stage.cannotList() ?? stage.cannotRemove() },
  ],
  [
    "names",
    "leave names that break terminals and lists",
    python(`
os.chdir(env["METIER_WORK_DIR"])
for name in (b"\\x1b]0;title\\x07", b"a\\nb", b"\\xff\\xfe", b"-rf", b"x" * 255, "\\u202e.txt".encode()):
    open(name, "w").close()
return False`),
    { harm: (stage) => stage.cannotList() ?? stage.cannotRemove() },
  ],
  [
    "pipe-file",
    "leave a pipe in the place of a file, on which a reader would wait for ever",
    bash('mkfifo "$METIER_WORK_DIR/result.txt"; return 1'),
    { harm: (stage) => stage.readByTools("result.txt") ?? stage.cannotList() ?? stage.cannotRemove() },
  ],
  [
    "locked-folder",
    "leave folders that nobody may open",
    bash('mkdir -p "$METIER_WORK_DIR/closed/inner" && chmod 000 "$METIER_WORK_DIR/closed"; return 1'),
    { harm: (stage) => stage.cannotList() ?? stage.cannotRemove() },
  ],
];

export const resources: readonly Attempt[] = rows.map(([id, tries, program, more = {}]) => ({
  id: `take-${id}`,
  tries,
  program,
  told: "program",
  limits: SMALL_LIMITS,
  control: TOO_DANGEROUS,
  ...more,
}));
