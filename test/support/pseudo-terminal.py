"""Runs a command in a pseudo-terminal. argv: a JSON object {columns, keys: [{after, send}], limit, command}.

Each `send` is typed once its `after` has appeared behind what was waited for last. Prints {screen, code} as JSON.
"""
import fcntl, json, os, pty, select, signal, struct, sys, termios, time

order = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    # Sized before the program starts, so that it never sees another width.
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, order["columns"], 0, 0))
    os.execvpe(order["command"][0], order["command"], {**os.environ, "TERM": "xterm-256color"})
end = time.monotonic() + order["limit"]
screen = b""
seen = 0
keys = list(order["keys"])
while True:
    if time.monotonic() > end:
        os.kill(pid, signal.SIGKILL)
        break
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        break
    if not piece:
        break
    screen += piece
    while keys:
        at = screen.find(keys[0]["after"].encode(), seen)
        if at < 0:
            break
        seen = at + len(keys[0]["after"].encode())
        os.write(terminal, keys.pop(0)["send"].encode())
code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps({"screen": screen.decode("utf-8", "replace"), "code": code}))
