/** A TCP proxy on loopback between processes and a server, which can be cut: then no byte passes, and nobody is told. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { onTestFinished } from "vitest";

export interface CutProxy {
  readonly port: number;
  /** For so long. Afterwards every second connection goes on as if nothing had been; the others are broken. */
  cut(ms: number): Promise<void>;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

export async function startCutProxy(serverPort: number): Promise<CutProxy> {
  const pairs = new Set<Pair>();
  let isCut = false;
  const server = createServer((near) => {
    const far = connect({ host: "127.0.0.1", port: serverPort });
    const pair = { near, far };
    pairs.add(pair);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.setNoDelay(true);
      one.on("data", (bytes) => void other.write(bytes));
      // Whoever is told of an end or a fault on one side breaks the other.
      one.on("error", () => undefined);
      one.on("close", () => {
        other.destroy();
        pairs.delete(pair);
      });
    }
    if (isCut) pause(pair);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const breakAll = (): void => {
    for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
  };
  onTestFinished(() => {
    server.close();
    breakAll();
  });
  return {
    port: (server.address() as AddressInfo).port,
    async cut(ms) {
      isCut = true;
      for (const pair of pairs) pause(pair);
      await wait(ms);
      isCut = false;
      for (const [at, { near, far }] of [...pairs].entries()) {
        for (const socket of [near, far]) at % 2 === 0 ? socket.resume() : socket.destroy();
      }
    },
  };
}

function pause({ near, far }: Pair): void {
  near.pause();
  far.pause();
}
