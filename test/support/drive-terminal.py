"""Runs a program in a pseudo-terminal. Reads steps as JSON lines from standard input, writes the screen to standard output.

A step is {"expect": text} (wait until it is on the screen, counted from the last one), {"send": text}, {"kill": true} or
{"end": true} (wait for the program). The last line of standard output is the exit code.
"""
import json
import os
import pty
import select
import signal
import struct
import sys
import fcntl
import termios
import time

DEADLINE = time.monotonic() + float(os.environ.get("PTY_SECONDS", "60"))
pid, master = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
screen = b""
seen = 0


def read_some():
    """Whether the program is still there."""
    global screen
    if time.monotonic() > DEADLINE:
        os.kill(pid, signal.SIGKILL)
        sys.stderr.write("The program did not do it in time. Screen:\n" + screen.decode("utf8", "replace"))
        sys.exit(70)
    ready, _, _ = select.select([master], [], [], 0.2)
    if not ready:
        return True
    try:
        data = os.read(master, 65536)
    except OSError:
        return False
    screen += data
    return data != b""


for line in sys.stdin:
    step = json.loads(line)
    if "expect" in step:
        wanted = step["expect"].encode()
        alive = True
        while wanted not in screen[seen:] and alive:
            alive = read_some()
        at = screen.find(wanted, seen)
        if at == -1:
            sys.stderr.write("The program ended before " + step["expect"] + "\n" + screen.decode("utf8", "replace"))
            sys.exit(71)
        seen = at + len(wanted)
    elif "send" in step:
        os.write(master, step["send"].encode())
    elif "kill" in step:
        os.kill(pid, signal.SIGKILL)
while read_some():
    pass
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(screen + b"\n" + str(os.waitstatus_to_exitcode(status)).encode())
