/**
 * Granted domains, as `[sandbox] network` and a manifest's `sandbox.network` write them:
 * `example.com` that host alone; `*.example.com` every host below it, not itself; `*` every public host;
 * `192.0.32.7` and `[2606:2800::1]` an address. Each for the default port of its scheme, or for one port alone, as
 * `example.com:8443`.
 */

export interface DomainGrant {
  /** In the form URLs have it: lower case, punycode, IPv6 in brackets. Empty for `*`. */
  readonly host: string;
  /** Whether it stands for the hosts below, not for `host` itself. */
  readonly isWildcard: boolean;
  /** Absent: the default port of the scheme. */
  readonly port?: number;
}

export interface Destination {
  /** As URLs have it. */
  readonly host: string;
  readonly port: number;
  readonly isDefaultPort: boolean;
}

const GRANT = /^(\*(?:\.|(?=:|$)))?([^\s/?#@\\*]*?)(?::(\d{1,5}))?$/;

/** `undefined` for a text that is none of the forms: it grants nothing. */
export function readDomainGrant(text: string): DomainGrant | undefined {
  const [matched, star, name = "", digits] = GRANT.exec(text.trim()) ?? [];
  if (matched === undefined) return undefined;
  const port = digits === undefined ? {} : { port: Number(digits) };
  if (port.port === 0 || (port.port ?? 0) > 65_535) return undefined;
  if (star === "*") return name === "" ? { host: "", isWildcard: true, ...port } : undefined;
  const host = URL.parse(`http://${name}/`)?.hostname.replace(/\.$/, "");
  if (!host || (star !== undefined && isAddress(host))) return undefined;
  return { host, isWildcard: star !== undefined, ...port };
}

export function isGranted(destination: Destination, network: readonly string[]): boolean {
  return network.some((text) => {
    const grant = readDomainGrant(text);
    return grant !== undefined && covers(grant, destination);
  });
}

function covers(grant: DomainGrant, { host, port, isDefaultPort }: Destination): boolean {
  if (grant.port === undefined ? !isDefaultPort : grant.port !== port) return false;
  if (!grant.isWildcard) return host === grant.host;
  return grant.host === "" || (!isAddress(host) && host.endsWith(`.${grant.host}`));
}

/** URLs have IPv4 addresses in four parts, however they were written. */
export function isAddress(host: string): boolean {
  return host.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}
