/** Attempts to act through the terminal of whoever started Metier. */
import { type Attempt, bash, python } from "./attempt.ts";

/** A child with a terminal of its own, as a sandboxed program has that was started in one. */
const ON_A_TERMINAL = `
import pty, termios
def on_terminal(work):
    def child():
        os.setsid()
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        return work(slave)
    return in_child(child)
`;

export const terminal: readonly Attempt[] = [
  {
    id: "terminal-type",
    tries: "type a command into the terminal",
    program: python(`${ON_A_TERMINAL}
return on_terminal(lambda slave: call("ioctl", slave, 0x5412, b"x") == 0) == 0`),
    told: "program",
    control: "root",
  },
  {
    id: "terminal-type-hidden",
    tries: "type, with the request hidden behind other bits",
    program: python(`${ON_A_TERMINAL}
return on_terminal(lambda slave: call("ioctl", slave, 0x100005412, b"x") == 0) == 0`),
    told: "program",
    control: "root",
  },
  {
    id: "terminal-paste",
    tries: "paste into a console",
    program: python(`${ON_A_TERMINAL}
return on_terminal(lambda slave: looked("ioctl", slave, 0x541c, b"\\3")) == 0`),
    told: "program",
    control: "anyone",
  },
  {
    id: "terminal-own",
    tries: "open the terminal that Metier was started in",
    program: python('os.close(os.open("/dev/tty", os.O_RDWR))\nreturn True'),
    told: "program",
    control: { none: "tests have no terminal; `terminal-other` shows one that is open" },
  },
  {
    id: "terminal-streams",
    tries: "find a terminal among its streams",
    program: python("return any(os.isatty(number) for number in range(64))"),
    told: "program",
    control: { none: "no backend connects a program to a terminal" },
  },
  {
    id: "terminal-other",
    tries: "write to another terminal of the user",
    program: bash('echo "$MARK" > "$HOST_TERMINAL"'),
    told: "program",
    control: "anyone",
  },
  {
    id: "terminal-console",
    tries: "open a console of the machine",
    program: bash("cat /dev/vcs || : > /dev/tty1 || : > /dev/console"),
    told: "program",
    control: { none: "not every machine has one" },
  },
];
