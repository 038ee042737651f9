/**
 * What goes through a `CONNECT` tunnel. TLS is passed on untouched, but only to the host that was checked: a `ClientHello`
 * that names another one could reach every site that shares its addresses. Plain HTTP is for the proxy to read instead.
 * What is said inside TLS stays hidden: a granted host that itself passes requests on to others cannot be told apart.
 */
import type { Socket } from "node:net";
import { readClientHello } from "./client-hello.ts";
import { isAddress } from "./domain-grants.ts";

export type TunnelBeginning =
  | { readonly kind: "tls"; readonly serverName?: string }
  /** Something else, or a TLS that does not say what it is. */
  | { readonly kind: "plain" }
  | { readonly kind: "closed" };

const MAX_BEGINNING = 32_768;
/** A fatal alert, `unrecognized_name`: the client's own library says so in its words. */
const WRONG_NAME = Buffer.from([0x15, 3, 3, 0, 2, 2, 112]);

/** Reads until it is clear what the client speaks, and puts all of it back. */
export function readBeginning(client: Socket): Promise<TunnelBeginning> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const finish = (beginning: TunnelBeginning): void => {
      client.off("data", take).off("end", closed).off("close", closed).pause();
      if (beginning.kind !== "closed") client.unshift(bytes);
      resolve(beginning);
    };
    const closed = (): void => finish({ kind: "closed" });
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk]);
      const hello = readClientHello(bytes);
      if (hello.kind === "incomplete" && bytes.length <= MAX_BEGINNING) return;
      if (hello.kind === "hello") finish({ ...hello, kind: "tls" });
      else finish({ kind: "plain" });
    };
    if (client.destroyed || client.readableEnded) return closed();
    client.on("data", take).once("end", closed).once("close", closed);
  });
}

/** Addresses have no name in TLS; a host has its own. */
export function isMeantFor({ hostname }: URL, serverName: string | undefined): boolean {
  return serverName === (isAddress(hostname) ? undefined : hostname);
}

export function refuseName(client: Socket): void {
  client.end(WRONG_NAME);
}

/** Both ways, each until its own end; a side that breaks off ends the other at once. */
export function splice(client: Socket, upstream: Socket): void {
  passOn(client, upstream);
  passOn(upstream, client);
}

function passOn(from: Socket, to: Socket): void {
  from.pipe(to);
  from.once("close", () => {
    if (!(from.readableEnded && from.writableFinished)) to.destroy();
  });
}
