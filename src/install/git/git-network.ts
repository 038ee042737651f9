/**
 * How git reaches a host. Over `https` it goes through our own proxy, which resolves each name once and dials what it
 * checked: neither the host nor a redirect can lead to a private address. Over ssh and `file://` the user's keys and the
 * file system decide; a server on this machine that was named as such is asked directly, and its redirects are not followed.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { checkDestination } from "../../egress/check-destination.ts";
import { openEgressProxy } from "../../egress/proxy.ts";
import { SYSTEM_ADDRESSES } from "../../egress/resolve-public.ts";
import { splice } from "../../egress/tunnel.ts";
import { isLoopbackHost } from "../addresses/loopback-host.ts";
import type { FetchContext } from "../fetch-source.ts";
import { type FaultOutcome, faulty } from "../install-fault.ts";
import type { GitReach } from "./git-program.ts";

export interface GitNetwork extends Pick<GitReach, "protocols" | "config"> {
  /** Where a redirect led that was refused, and why, in a sentence. */
  whyRefused(): Promise<string | undefined>;
  close(): Promise<void>;
}

type NetworkOutcome = { readonly ok: true; readonly network: GitNetwork } | FaultOutcome;

export async function openGitNetwork(url: string, context: FetchContext): Promise<NetworkOutcome> {
  const parsed = /^https?:/.test(url) ? URL.parse(url) : null;
  if (parsed === null) return goDirectly(url.startsWith("file:") ? "file" : "ssh", []);
  const protocols = parsed.protocol.slice(0, -1);
  if (isLoopbackHost(parsed.hostname))
    return goDirectly(protocols, ["http.proxy=", "http.followRedirects=false"]);

  const { addresses = SYSTEM_ADDRESSES } = context;
  // Every public host: a repository may have moved. Other ports than the usual one only where the address has it.
  const granted = ["*", ...(parsed.port === "" ? [] : [`*:${parsed.port}`])];
  const checked = await checkDestination(url, granted, addresses);
  if (!checked.ok) return refuseHost(url, checked.reason, checked.message);
  const refused: string[] = [];
  const proxy = await openEgressProxy({
    network: granted,
    addresses,
    onRefuse: (host) => refused.push(host),
  });
  const door = await openDoor(proxy.socketPath);
  return {
    ok: true,
    network: {
      protocols,
      config: [`http.proxy=http://127.0.0.1:${door.port}`, "http.followRedirects=initial"],
      async whyRefused() {
        const [host] = refused;
        if (host === undefined) return undefined;
        const again = await checkDestination(`${protocols}://${host}/`, granted, addresses);
        return again.ok ? `\`${host}\` is not reached at that port.` : again.message;
      },
      async close() {
        door.close();
        await proxy.close();
      },
    },
  };
}

function goDirectly(protocols: string, config: readonly string[]): NetworkOutcome {
  const network = { protocols, config, whyRefused: async () => undefined, close: async () => undefined };
  return { ok: true, network };
}

function refuseHost(url: string, reason: string, message: string): FaultOutcome {
  if (reason === "unresolved")
    return faulty("source.unreachable", message, "Try again when the network is there.");
  return faulty(
    "source.refused",
    message,
    `A repository of your own network is fetched over ssh (\`git@host:owner/repo.git\`), or from a clone that you made: \`git clone ${url.slice(0, 200)}\` and then \`./repo\`.`,
  );
}

/** Git takes a proxy by TCP alone: a port of this machine that leads to the proxy's socket. */
function openDoor(socketPath: string): Promise<{ readonly port: number; close(): void }> {
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const inner = connect({ path: socketPath, allowHalfOpen: true });
    for (const socket of [client, inner]) {
      open.add(socket);
      socket.on("error", () => undefined); // It is closed then, and the other side with it.
      socket.once("close", () => open.delete(socket));
    }
    splice(client, inner);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const close = (): void => {
        server.close();
        for (const socket of open) socket.destroy();
      };
      resolve({ port: (server.address() as AddressInfo).port, close });
    });
  });
}
