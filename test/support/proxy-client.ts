/** A client that speaks to the allow-list proxy byte by byte, so that it can also speak wrongly. */
import { connect, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";
import { type EgressProxy, type EgressProxyOptions, openEgressProxy } from "@metier/sandbox/egress";
import { onTestFinished } from "vitest";

export interface TestProxy extends EgressProxy {
  readonly reached: readonly string[];
  readonly refused: readonly string[];
}

/** Open until the test ends. */
export async function openProxy(options: EgressProxyOptions): Promise<TestProxy> {
  const reached: string[] = [];
  const refused: string[] = [];
  const proxy = await openEgressProxy({
    onReach: (host) => void reached.push(host),
    onRefuse: (host) => void refused.push(host),
    ...options,
  });
  onTestFinished(() => proxy.close());
  return { ...proxy, reached, refused };
}

export function dial({ socketPath }: Pick<EgressProxy, "socketPath">): Socket {
  const socket = connect({ path: socketPath, allowHalfOpen: true });
  socket.on("error", () => undefined); // A connection that breaks is closed, and tests wait for that.
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Everything that comes back until the proxy closes the connection. */
export function readAll(socket: Socket): Promise<string> {
  let text = "";
  return new Promise((resolve) => {
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.once("end", () => socket.end());
    socket.once("close", () => resolve(text));
  });
}

/** Sends these lines, and a body after them; the proxy is to close the connection. */
export function exchange(proxy: EgressProxy, lines: readonly string[], body = ""): Promise<string> {
  const socket = dial(proxy);
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  return readAll(socket);
}

export function get(proxy: EgressProxy, url: string, ...headers: readonly string[]): Promise<string> {
  return exchange(proxy, [`GET ${url} HTTP/1.1`, "Host: whatever.test", "Connection: close", ...headers]);
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);
}

/** The first answer of the proxy to `CONNECT`, and the connection it was given on. */
export async function openTunnel(
  proxy: EgressProxy,
  authority: string,
): Promise<{ readonly answer: string; readonly socket: Socket }> {
  const socket = dial(proxy);
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const answer = await new Promise<string>((resolve) => {
    socket.once("data", (chunk) => resolve(chunk.toString("latin1")));
    socket.once("close", () => resolve(""));
  });
  return { answer, socket };
}

/** The first bytes that a real TLS client sends to the host of this name. */
export function clientHello(servername?: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const wire = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        resolve(chunk);
        done();
      },
    });
    const client = connectTls({ socket: wire, ...(servername !== undefined && { servername }) });
    client.on("error", () => undefined); // Nobody answers it.
    onTestFinished(() => void client.destroy());
  });
}
