/** Where npm packages come from: an address, and the domains that fetching from it may reach. No credential is ever passed on. */

export interface Registry {
  readonly url: string;
  /** Domains, as `src/egress/domain-grants.ts` reads them. */
  readonly network: readonly string[];
}

/** `undefined`: it is no address, or one with a user name or password. */
export function nodeRegistry(url: string): Registry | undefined {
  const read = URL.parse(url.trim());
  if (read === null || !/^https?:$/.test(read.protocol)) return undefined;
  if (read.username !== "" || read.password !== "") return undefined;
  if (!read.pathname.endsWith("/")) read.pathname += "/";
  return { url: read.href, network: [read.host] };
}
