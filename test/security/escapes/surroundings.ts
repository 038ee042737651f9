/**
 * What lies around the sandbox while the suite runs: a secret, servers that note what they hear, a terminal and shared
 * memory of the same user. Everything is on this machine, and gone when it is closed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, connect, createServer, type ListenOptions, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Surroundings {
  readonly root: string;
  /** In every file that must not be read, and in the environment of this process. */
  readonly secret: string;
  /** What the attempts are told about the machine. */
  readonly variables: Readonly<Record<string, string>>;
  /** Notes what a socket in a folder hears, too. */
  listenAt(path: string): Promise<void>;
  hasHeard(word: string): boolean;
  /** Whether the servers answer and the secret is where it was. */
  isWhole(): Promise<boolean>;
  close(): void;
}

/** The variable of this process that holds the secret. */
const SECRET_NAME = "METIER_ESCAPE_SECRET";

export async function openSurroundings(): Promise<Surroundings> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "metier-escape-")));
  const secret = process.env[SECRET_NAME] ?? `secret-${randomUUID()}`;
  const shm = `/dev/shm/metier-escape-${randomUUID()}`;
  const abstract = `metier-escape-${randomUUID()}`;
  mkdirSync(join(root, "outside"));
  writeFileSync(join(root, "outside", "secret.txt"), secret);
  writeFileSync(shm, secret);
  openSync(join(root, "outside", "secret.txt"), "r"); // For those who look at what others have open.
  process.chdir(root);

  const heard: string[] = [];
  const servers: Server[] = [];
  const listen = async (options: ListenOptions): Promise<number> => {
    const server = createServer((socket) => {
      socket.on("data", (data) => {
        heard.push(data.toString("latin1"));
        socket.end();
      });
      socket.on("error", () => undefined); // It went away, which is its right.
    });
    servers.push(server);
    server.listen(options);
    await once(server, "listening");
    const address = server.address();
    return typeof address === "string" ? 0 : (address?.port ?? 0);
  };
  const datagrams = createSocket("udp4", (data) => heard.push(data.toString("latin1")));
  datagrams.bind(0, "127.0.0.1");
  await once(datagrams, "listening");
  const planter = await plant(secret);
  const socket = join(root, "d.sock");
  await listen({ path: socket });
  await listen({ path: `\0${abstract}` });

  return {
    root,
    secret,
    variables: {
      HOST_PID: String(process.pid),
      HOST_NAMESPACE: readlinkSync("/proc/self/ns/pid"),
      HOST_TMP: realpathSync(tmpdir()),
      HOST_SHM: shm,
      HOST_TERMINAL: planter.terminal,
      SHM_KEY: planter.segment,
      METIER_TEST_NAME: SECRET_NAME,
      PORT4: String(await listen({ port: 0, host: "127.0.0.1" })),
      PORT6: String(await listen({ port: 0, host: "::1" }).catch(() => 9)), // Without IPv6 nobody can listen there.
      UDP: String((datagrams.address() as AddressInfo).port),
      SOCKET: socket,
      ABSTRACT: abstract,
    },
    listenAt: async (path) => void (await listen({ path })),
    hasHeard: (word) => heard.some((data) => data.includes(word)),
    async isWhole() {
      const connection = connect(socket);
      await once(connection, "connect");
      connection.end();
      return readFileSync(join(root, "outside", "secret.txt"), "utf8") === secret;
    },
    close() {
      planter.child.stdin?.end();
      for (const server of servers) server.close();
      datagrams.close();
      process.chdir("/");
      for (const path of [shm, root]) rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Opens what Node cannot: a terminal and a segment of shared memory. Both end with the process, which ends with us. */
const PLANTER = `
import ctypes, os, pty, sys
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
key = int(sys.argv[1])
segment = libc.shmget(key, 4096, 0o1600)
ctypes.memmove(libc.shmat(segment, None, 0), sys.argv[2].encode(), len(sys.argv[2]))
master, slave = pty.openpty()
print(os.ttyname(slave), flush=True)
sys.stdin.read()
libc.shmctl(segment, 0, None)
`;

interface Planter {
  readonly child: ChildProcess;
  readonly terminal: string;
  readonly segment: string;
}

async function plant(secret: string): Promise<Planter> {
  const segment = String(1 + Math.floor(Math.random() * 0x7ffffffe));
  const child = spawn("/usr/bin/python3", ["-c", PLANTER, segment, secret], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [line] = await once(child.stdout, "data");
  return { child, segment, terminal: String(line).trim() };
}
