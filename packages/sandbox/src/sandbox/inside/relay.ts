/**
 * `metier-sb relay -- command…`: runs a command whose only network access is the mounted socket of the allow-list
 * proxy. A sandbox has its own loopback: connections to a port there are forwarded to the socket, and the usual proxy
 * variables name it.
 */
import { spawn } from "node:child_process";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { constants } from "node:os";
import { pipeline } from "node:stream";
import { EGRESS_SOCKET } from "./protocol.ts";

const PASSED_ON: readonly NodeJS.Signals[] = ["SIGHUP", "SIGINT", "SIGTERM"];
/** As shells have it. */
const NOT_FOUND_CODE = 127;
const NOT_STARTED_CODE = 126;
const FIRST_SIGNAL_CODE = 128;

/** Exits like the command: with its exit code, or 128 plus the number of the signal that ended it. */
export async function runRelay([separator, ...argv]: readonly string[]): Promise<number> {
  const [program, ...args] = argv;
  if (separator !== "--" || program === undefined) {
    process.stderr.write("metier-sb relay: usage: `metier-sb relay -- command…`\n");
    return 2;
  }
  const port = await listen();
  return runCommand(program, args, { ...process.env, ...proxyVariables(port) });
}

function listen(): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, passOn);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function passOn(client: Socket): void {
  const proxy = connect({ path: EGRESS_SOCKET, allowHalfOpen: true });
  const ended = (): void => undefined; // A broken connection is closed on both sides; nothing else to do.
  pipeline(client, proxy, ended);
  pipeline(proxy, client, ended);
}

function proxyVariables(port: number): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${port}`;
  const direct = "localhost,127.0.0.1,::1";
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    NO_PROXY: direct,
    // `curl` reads the variable for plain HTTP only in lowercase.
    http_proxy: proxy,
    https_proxy: proxy,
    no_proxy: direct,
    // Node 24 and newer, and 22.21, use the variables only when told to.
    NODE_USE_ENV_PROXY: "1",
  };
}

function runCommand(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit", env });
    for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal));
    child.once("error", ({ code, message }: NodeJS.ErrnoException) => {
      const isMissing = code === "ENOENT";
      process.stderr.write(`${program}: ${isMissing ? "No such file or directory" : message}\n`);
      resolve(isMissing ? NOT_FOUND_CODE : NOT_STARTED_CODE);
    });
    child.once("exit", (code, signal) => {
      resolve(signal === null ? (code ?? 0) : FIRST_SIGNAL_CODE + constants.signals[signal]);
    });
  });
}
