/** A web server on loopback that the egress gate of a test takes for a public site. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { AddressBook } from "@metier/sandbox/egress";
import { isPublicAddress } from "@metier/sandbox/egress";
import { onTestFinished } from "vitest";

/** The one address that counts as public in these tests; everything else is judged as it is. */
export const PUBLIC = "127.0.0.1";

/** Names and where they lead; names that are not in it lead nowhere. */
export function addressBook(names: Readonly<Record<string, readonly string[]>>): AddressBook {
  return {
    resolve: async (host) => names[host] ?? [],
    isPublic: (address) => address === PUBLIC || isPublicAddress(address),
  };
}

export interface Site {
  readonly port: number;
  /** Paths that were asked for, in order. */
  readonly requests: readonly string[];
}

export async function startSite(listener: RequestListener, address: string = PUBLIC): Promise<Site> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, requests };
}
