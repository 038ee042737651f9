/** Stands between a store and Postgres, and loses what a network loses: answers, connections, a server for a while. */
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface LosingProxy {
  /** The same database, by way of the proxy. */
  through(url: string): string;
  /** The next answer is kept from whoever waits for it, and its connection ends; gives what it was. */
  loseAnswer(): Promise<string>;
  /** All connections end, and no new one is accepted. */
  cutOff(): void;
  /** Connections stay, and nothing passes any more; new ones are as ever. */
  silence(): void;
  /** Nothing passes for a while, on old connections or new ones, and nothing is lost. */
  hold(): void;
  /** New connections are accepted again, and what was held passes. */
  mend(): void;
}

export async function startLosingProxy(target: string): Promise<LosingProxy> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<readonly [Socket, Socket]>();
  let isCut = false;
  let isHeld = false;
  let keepAnswer: ((answer: string) => void) | undefined;

  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connect(Number(port), hostname);
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on("error", () => undefined); // It closes, too.
      socket.on("close", () => {
        pairs.delete(pair);
        for (const other of pair) other.destroy();
      });
    }
    if (isHeld) client.pause();
    client.on("data", (bytes) => upstream.write(bytes));
    upstream.on("data", (bytes) => {
      const keep = keepAnswer;
      if (keep === undefined) return void client.write(bytes);
      keepAnswer = undefined;
      client.destroy();
      keep(bytes.toString("latin1"));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as { readonly port: number };
  const endAll = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  onTestFinished(() => {
    endAll();
    server.close();
  });
  return {
    through: (url) => url.replace(`:${port}/`, `:${own}/`),
    loseAnswer: () =>
      new Promise((resolve) => {
        keepAnswer = resolve;
      }),
    cutOff() {
      isCut = true;
      endAll();
    },
    silence() {
      for (const pair of pairs) for (const socket of pair) socket.removeAllListeners("data").resume();
    },
    hold() {
      isHeld = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    mend() {
      isCut = false;
      isHeld = false;
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
  };
}
