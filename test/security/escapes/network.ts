/** Attempts to reach anything but the sandbox itself. Servers of the suite listen on the machine's own loopback. */
import { type Attempt, bash, LONG_SEARCH, node, python } from "./attempt.ts";

/** Python that says the mark to a server; the server tells whether it arrived. */
const calls: readonly Attempt[] = (
  [
    [
      "tcp4",
      "reach a service of the machine by TCP",
      'socket.create_connection(("127.0.0.1", int(env["PORT4"])), 5).sendall(env["MARK"].encode())',
    ],
    [
      "tcp6",
      "reach a service of the machine by TCP over IPv6",
      'socket.create_connection(("::1", int(env["PORT6"])), 5).sendall(env["MARK"].encode())',
    ],
    [
      "tcp4-mapped",
      "reach a service by an IPv4 address written as IPv6",
      'socket.create_connection(("::ffff:127.0.0.1", int(env["PORT4"])), 5).sendall(env["MARK"].encode())',
    ],
    [
      "tcp4-any",
      "reach a service by the address that means this machine",
      'socket.create_connection(("0.0.0.0", int(env["PORT4"])), 5).sendall(env["MARK"].encode())',
    ],
    [
      "udp4",
      "send a datagram to the machine",
      'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(env["MARK"].encode(), ("127.0.0.1", int(env["UDP"])))',
    ],
    [
      "dns",
      "carry data out in a question to a name server",
      `label = env["MARK"].encode()
question = struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + bytes([len(label)]) + label + b"\\0" + struct.pack(">HH", 1, 1)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(question, ("127.0.0.1", int(env["UDP"])))`,
    ],
    [
      "unix-outside",
      "reach a daemon by its socket outside of the world",
      'connection = socket.socket(socket.AF_UNIX)\nconnection.connect(env["SOCKET"])\nconnection.sendall(env["MARK"].encode())',
    ],
    [
      "unix-in-project",
      "reach a daemon by its socket in the project",
      'connection = socket.socket(socket.AF_UNIX)\nconnection.connect(env["PROJECT_SOCKET"])\nconnection.sendall(env["MARK"].encode())',
    ],
    [
      "unix-through-process",
      "reach that socket through the root folder of another process",
      'connection = socket.socket(socket.AF_UNIX)\nconnection.connect("/proc/" + env["HOST_PID"] + "/cwd/d.sock")\nconnection.sendall(env["MARK"].encode())',
    ],
    [
      "abstract",
      "reach a daemon by a name that lies in no folder",
      'connection = socket.socket(socket.AF_UNIX)\nconnection.connect("\\0" + env["ABSTRACT"])\nconnection.sendall(env["MARK"].encode())',
    ],
  ] as const
).map(([id, tries, text]) => ({
  id: `reach-${id}`,
  tries,
  program: python(`${text}\nreturn True`),
  told: "host",
  control: "anyone",
  ...(["tcp6", "tcp4-mapped"].includes(id) && { needs: "ipv6" as const }),
}));

/** Kinds of sockets that lead past the network of the sandbox. */
const families: readonly Attempt[] = (
  [
    ["raw", "send packets of its own making", "socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP", "root"],
    ["packet", "listen to everything on the network", "17, socket.SOCK_RAW, 0", "root"],
    ["vsock", "reach the machine that hosts this one", "40, socket.SOCK_STREAM, 0", "anyone"],
    ["crypto", "use the kernel's cryptography, a large target", "38, socket.SOCK_SEQPACKET, 0", "anyone"],
    ["bluetooth", "use the machine's radio", "31, socket.SOCK_RAW, 1", "root"],
    ["key", "manage the machine's tunnels", "15, socket.SOCK_RAW, 2", "root"],
  ] as const
).map(([id, tries, family, who]) => ({
  id: `reach-family-${id}`,
  tries,
  program: python(`socket.socket(${family}).close()\nreturn True`),
  told: "program",
  control: id === "raw" ? who : { none: "not every kernel has such sockets; `reach-family-raw` is shown" },
}));

export const network: readonly Attempt[] = [
  ...calls,
  ...families,
  {
    id: "reach-shell",
    tries: "reach a service of the machine from the shell",
    program: bash('exec 3<>"/dev/tcp/127.0.0.1/$PORT4" && echo "$MARK" >&3'),
    told: "host",
    control: "anyone",
  },
  {
    id: "reach-fetch",
    tries: "reach a service of the machine with `fetch`",
    program: node(
      'await fetch("http://127.0.0.1:" + process.env.PORT4 + "/" + process.env.MARK); return true;',
    ),
    told: "host",
    control: "anyone",
  },
  {
    id: "reach-localhost",
    tries: "reach a service of the machine by its name",
    program: node(
      `return new Promise((resolve, reject) => {
  const connection = require("node:net").connect(Number(process.env.PORT4), "localhost", () => {
    connection.end(process.env.MARK, () => resolve(true));
  });
  connection.on("error", (error) => reject(error.errors?.[0] ?? error));
});`,
    ),
    told: "host",
    control: "anyone",
  },
  {
    id: "reach-interfaces",
    tries: "find an interface that leads out",
    program: bash("grep : /proc/net/dev | grep -v ' *lo:'"),
    told: "program",
    control: { none: "the machine that runs the tests may have none either" },
  },
  {
    id: "reach-name-servers",
    tries: "learn whom the machine asks for names",
    program: bash("grep ^nameserver /etc/resolv.conf"),
    told: "program",
    control: { none: "the machine that runs the tests may have none either" },
  },
  {
    id: "reach-change-network",
    tries: "give its network another address",
    program: python(`
def ask(kind, flags, body):
    link = socket.socket(16, socket.SOCK_RAW, 0)
    link.send(struct.pack("=IHHII", 16 + len(body), kind, flags, 1, 0) + body)
    answer = link.recv(65536)
    return struct.unpack("=i", answer[16:20])[0] if struct.unpack("=H", answer[4:6])[0] == 2 else 0
assert ask(18, 0x301, struct.pack("=BBHiII", 0, 0, 0, 0, 0, 0)) == 0, "this program cannot even list interfaces"
number = socket.if_nametoindex("lo")
address = struct.pack("=BBBBi", 2, 32, 0, 254, number) + struct.pack("=HH4s", 8, 2, bytes([127, 9, 9, 9]))
return ask(20, 0x605, address) == 0`),
    told: "program",
    control: {
      none: "it would change the machine's network; the program lists interfaces by the same way first",
    },
  },
  {
    id: "reach-any-socket",
    tries: "find any socket in the folders it sees",
    program: bash(
      'find /run /tmp /var "$PROJECT" "$METIER_SKILL_DIR" "$METIER_WORK_DIR" -type s 2>/dev/null | while read -r path; do if [ -S "$path" ]; then echo "$path"; fi; done | grep -a .',
    ),
    limits: LONG_SEARCH,
    told: "program",
    control: "anyone",
  },
  {
    id: "reach-proxy",
    tries: "find a proxy that leads out in its environment",
    program: bash("env | grep -i _proxy="),
    told: "program",
    control: {
      none: "no backend passes Metier's environment on, and the suite has such a variable in its own",
    },
  },
];
