/** Attempts to live on after the run, to ignore its end, or to harm other processes. */
import { type Attempt, bash, python } from "./attempt.ts";

/** Every process of an attempt has `$LASTING` on its command line; the host looks for it when the run is over. */
const ENDED_WITH_THE_RUN = { none: "also without a sandbox Metier ends what a command has started" };
const ONLY_BUBBLEWRAP = { none: "only bubblewrap has such a process" };
const HARMS_US = { none: "it would end the tests" };

/** Never in the namespace of the machine, whatever became of the sandbox. */
const OWN_NAMESPACE = '[ "$(readlink /proc/self/ns/pid)" = "$HOST_NAMESPACE" ] && return 0';

const SHORT = { timeoutMs: 1_500 };

export const processes: readonly Attempt[] = [
  {
    id: "outlive-daemon",
    tries: "leave a daemon behind",
    program: python(`
started, say = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(say, b"x")
        os.closerange(0, 64)
        time.sleep(600)
    os._exit(0)
assert os.read(started, 1) == b"x", "the daemon did not start"
return False`),
    told: "host",
    control: ENDED_WITH_THE_RUN,
  },
  {
    id: "outlive-hang-up",
    tries: "leave a process behind that ignores hang-ups",
    program: bash('nohup sleep "$LASTING" >/dev/null 2>&1 & disown; return 1'),
    told: "host",
    control: ENDED_WITH_THE_RUN,
  },
  {
    id: "outlive-session",
    tries: "leave a process of another session behind that holds the output open",
    program: bash('setsid sleep "$LASTING" & setsid setsid sleep "$LASTING" & return 1'),
    told: "host",
    control: ENDED_WITH_THE_RUN,
  },
  {
    id: "outlive-stopped",
    tries: "leave a stopped process behind",
    program: bash('sleep "$LASTING" & kill -STOP $!; return 1'),
    told: "host",
    limits: SHORT,
    endings: ["timeout"],
    control: ENDED_WITH_THE_RUN,
  },
  {
    id: "outlive-orphans",
    tries: "leave processes behind faster than they can be ended",
    program: python(`
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
def flee():
    while os.getpid():
        if os.fork() > 0:
            os._exit(0)
        os.setsid()
if os.fork() == 0:
    flee()
time.sleep(0.3)
return False`),
    told: "host",
    limits: { maxProcesses: 40 },
    endings: ["limit"],
    control: { none: "it would be hard to end" },
  },
  {
    id: "outlive-time-limit",
    tries: "ignore every signal until long after the time limit",
    program: python(`
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
time.sleep(600)`),
    told: "host",
    limits: SHORT,
    endings: ["timeout"],
    control: ENDED_WITH_THE_RUN,
  },
  {
    id: "outlive-time-limit-blocked",
    tries: "block every signal, with a child that does the same",
    program: python(`
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
os.fork()
os.setsid() if os.getpid() != os.getpgrp() else None
time.sleep(600)`),
    told: "host",
    limits: SHORT,
    endings: ["timeout"],
    control: ENDED_WITH_THE_RUN,
  },
  {
    id: "outlive-by-stopping",
    tries: "stop itself, so that it never ends",
    program: bash("kill -STOP $$"),
    told: "host",
    limits: SHORT,
    endings: ["timeout"],
    control: ENDED_WITH_THE_RUN,
  },
  {
    id: "outlive-closed-streams",
    tries: "close all its streams and go on",
    program: python("os.closerange(0, 1024)\ntime.sleep(600)"),
    told: "host",
    limits: SHORT,
    endings: ["timeout"],
    control: ENDED_WITH_THE_RUN,
  },
  {
    id: "outlive-by-lying",
    tries: "have the process that holds the sandbox say that the command has ended",
    program: python(`
for name in os.listdir("/proc/1/fd"):
    if "eventfd" in os.readlink("/proc/1/fd/" + name):
        return True
return False`),
    told: "program",
    control: ONLY_BUBBLEWRAP,
  },
  {
    id: "reach-holder-root",
    tries: "look at the machine through the processes that hold the sandbox",
    program: python(`
for number in set(range(1, 8)) - {os.getpid()}:
    for place in ("root", "cwd", "root/host", "cwd/host"):
        try:
            print(open(f"/proc/{number}/{place}{env['OUTSIDE']}/secret.txt").read())
            return True
        except OSError:
            pass
        if os.path.isdir(f"/proc/{number}/{place}/host"):
            return True
return False`),
    told: "program",
    control: ONLY_BUBBLEWRAP,
  },
  {
    id: "reach-holder-memory",
    tries: "open the memory, the program or the descriptors of the processes that hold the sandbox",
    program: python(`
for number in set(range(1, 8)) - {os.getpid(), os.getppid() if os.getppid() > 2 else 0}:
    for look in (lambda at: open(at + "/mem", "r+b"), lambda at: os.readlink(at + "/exe"), lambda at: os.listdir(at + "/fd")):
        try:
            look(f"/proc/{number}")
            return True
        except OSError:
            pass
return False`),
    told: "program",
    control: ONLY_BUBBLEWRAP,
  },
  {
    id: "outlive-holder",
    tries: "end a process that holds the sandbox, and live on",
    program: bash('setsid sleep "$LASTING" & sleep 0.2; kill -KILL 1; kill -KILL 2; sleep "$LASTING"'),
    told: "host",
    limits: SHORT,
    endings: ["signalled", "timeout"],
    control: HARMS_US,
  },
  {
    id: "outlive-holder-stopped",
    tries: "stop a process that holds the sandbox, and live on",
    program: bash('setsid sleep "$LASTING" & kill -STOP 1; kill -STOP 2; return 1'),
    told: "host",
    limits: SHORT,
    endings: ["timeout"],
    control: HARMS_US,
  },
  {
    id: "harm-end",
    tries: "end a process of the user by its number",
    program: bash('kill -KILL "$VICTIM"'),
    told: "host",
    control: "anyone",
  },
  {
    id: "harm-stop",
    tries: "stop a process of the user",
    program: bash('kill -STOP "$VICTIM"'),
    told: "host",
    control: "anyone",
  },
  {
    id: "harm-descriptor",
    tries: "end a process of the user through a descriptor of it",
    program: python(
      'call("pidfd_send_signal", call("pidfd_open", int(env["VICTIM"]), 0), 9, 0, 0)\nreturn True',
    ),
    told: "host",
    control: "anyone",
  },
  {
    id: "harm-slow",
    tries: "slow a process of the user down",
    program: python('os.setpriority(os.PRIO_PROCESS, int(env["VICTIM"]), 19)\nreturn True'),
    told: "host",
    control: "anyone",
  },
  {
    id: "harm-limits",
    tries: "take a process of the user its limits away",
    program: python('resource.prlimit(int(env["VICTIM"]), resource.RLIMIT_NOFILE, (16, 16))\nreturn True'),
    told: "host",
    control: "anyone",
  },
  {
    id: "harm-metier",
    tries: "end Metier itself",
    program: bash(`${OWN_NAMESPACE}\nkill -KILL "$HOST_PID"`),
    told: "program",
    control: HARMS_US,
  },
  {
    id: "harm-parent",
    tries: "end whoever started it",
    program: bash(`${OWN_NAMESPACE}\nkill -KILL "$PPID"; sleep 0.1; kill -0 "$PPID" && return 1`),
    told: "host",
    endings: ["signalled"],
    control: HARMS_US,
  },
  {
    id: "harm-everyone",
    tries: "end every process it may end",
    program: bash(`${OWN_NAMESPACE}\nkill -KILL -1; return 1`),
    told: "host",
    endings: ["signalled"],
    control: HARMS_US,
  },
  {
    id: "harm-raise-limits",
    tries: "raise its own limits",
    program: python(`
try:
    for kind in (resource.RLIMIT_CORE, resource.RLIMIT_CPU):
        resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
except ValueError as error:
    raise OSError(error)
return True`),
    told: "program",
    control: { none: "the same limits hold without a sandbox" },
  },
  {
    id: "harm-core-dump",
    tries: "leave its memory behind in a core dump",
    program: python(`
os.chdir(env["METIER_WORK_DIR"])
child = os.fork()
if child == 0:
    os.abort()
status = os.waitpid(child, 0)[1]
assert os.WIFSIGNALED(status), "the child did not crash"
return os.WCOREDUMP(status)`),
    told: "program",
    control: { none: "the same limits hold without a sandbox" },
  },
];
