/**
 * The egress gate for all outgoing traffic: checks the URL, whether its host is granted, then the host's addresses.
 * Only addresses checked here may be dialed; every redirect is checked again.
 */
import { lookup } from "node:dns/promises";
import { type BlockList, isIP } from "node:net";
import { showPath } from "@metier/base/files";
import { done, type Refusal, type Refused, type Result, refused } from "@metier/base/result";

type EgressReason =
  /** Not a URL, or not one that can be fetched. */
  | "invalid"
  | "credentials"
  /** A name of the local network or this machine. */
  | "local-name"
  | "not-granted"
  /** Plain `http:` where `https:` is required. */
  | "insecure"
  /** The name resolves to a non-public address. */
  | "private-address"
  | "unresolved"
  | "redirects"
  | "media-type"
  | "too-large"
  | "timeout"
  | "cancelled"
  | "unreachable";

/** Why the request is refused. */
export interface EgressRefusal extends Refusal {
  readonly reason: EgressReason;
}

export function refuseEgress(reason: EgressReason, message: string): Refused<EgressRefusal> {
  return refused({ reason, message });
}

interface CheckedDestination {
  readonly url: URL;
  /** Checked: only these may be dialed. */
  readonly addresses: readonly string[];
}

export async function checkDestination(
  text: string,
  network: readonly string[],
  book: AddressBook,
): Promise<Result<CheckedDestination, EgressRefusal>> {
  const checked = checkUrl(text, network, book.privateHosts);
  if (!checked.ok) return checked;
  const { url, host, isNamedPrivate } = checked.value;
  const resolved = await resolvePublic(host, book, isNamedPrivate);
  return resolved.ok ? done({ url, addresses: resolved.value }) : resolved;
}

interface CheckedUrl {
  /** Without a fragment or a trailing dot on the host. */
  readonly url: URL;
  /** The name to resolve, or an address without brackets. */
  readonly host: string;
  /** The user listed it as a private network host. */
  readonly isNamedPrivate: boolean;
}

const MAX_LENGTH = 8192;
const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ["http:", 80],
  ["https:", 443],
]);
/** A URL's host is in punycode; `_` is not valid in host names, but real ones have it. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
/** Never public, even if granted. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home\.arpa)$/;
const MAX_GRANTS_SHOWN = 10;

/**
 * First half: whether a URL's text alone allows fetching it, without network access. `network`: granted domains, in the
 * forms of `readDomainGrant`; `privateHosts`: hosts that need not be public.
 */
export function checkUrl(
  text: string,
  network: readonly string[],
  privateHosts: readonly string[] = [],
): Result<CheckedUrl, EgressRefusal> {
  if (text.length > MAX_LENGTH) {
    const message = `The URL has ${text.length} characters; the limit is ${MAX_LENGTH}.`;
    return refuseEgress("invalid", message);
  }
  const url = URL.parse(text);
  if (url === null) {
    return refuseEgress(
      "invalid",
      `${showPath(text)} is not a URL. Use an absolute one, such as \`https://example.com/page\`.`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    return refuseEgress(
      "credentials",
      `The URL for \`${url.host}\` contains a user name or password. Remove it.`,
    );
  }
  const defaultPort = DEFAULT_PORTS.get(url.protocol);
  if (defaultPort === undefined) {
    const scheme = `\`${url.protocol.slice(0, 40)}\``;
    return refuseEgress(
      "invalid",
      `${showPath(text)} uses ${scheme}; only \`https:\` and \`http:\` are supported.`,
    );
  }
  url.hash = "";
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  return checkHost(url, defaultPort, network, privateHosts);
}

function checkHost(
  url: URL,
  defaultPort: number,
  network: readonly string[],
  privateHosts: readonly string[],
): Result<CheckedUrl, EgressRefusal> {
  const { hostname } = url;
  const port = url.port === "" ? defaultPort : Number(url.port);
  const isDefaultPort = url.port === "";
  const destination = { host: hostname, port, isDefaultPort };
  const isNamedPrivate = isNamed(destination, privateHosts);
  if (!isAddress(hostname)) {
    if (!HOST_NAME.test(hostname)) {
      return refuseEgress("invalid", `${showPath(hostname)} is not a host name.`);
    }
    if (!isNamedPrivate && (LOCAL_NAME.test(hostname) || !hostname.includes("."))) {
      const message = `\`${hostname}\` is a name of this machine or its local network; only public hosts can be reached.`;
      return refuseEgress("local-name", message);
    }
  }
  if (!isGranted(destination, network)) {
    return refuseEgress(
      "not-granted",
      describeMissingGrant(isDefaultPort ? hostname : `${hostname}:${port}`, network),
    );
  }
  return done({ url, host: hostname.replace(/^\[|\]$/g, ""), isNamedPrivate });
}

function describeMissingGrant(wanted: string, network: readonly string[]): string {
  const how =
    `The user grants it in the config with \`[sandbox]\` \`network = ["${wanted}"]\`; a skill asks for it with ` +
    "`sandbox.network` in its manifest. Untrusted skills have no network.";
  if (network.length === 0) return `\`${wanted}\` is not granted: this run has no network. ${how}`;
  const shown = network.slice(0, MAX_GRANTS_SHOWN).map((text) => {
    return readDomainGrant(text) === undefined ? `${showPath(text)} (not a domain)` : showPath(text);
  });
  const more = network.length > MAX_GRANTS_SHOWN ? ` and ${network.length - MAX_GRANTS_SHOWN} more` : "";
  return `\`${wanted}\` is not granted. Granted: ${shown.join(", ")}${more}. ${how}`;
}

/** How the gate asks the machine. Only tests, which talk to loopback, replace it. */
export interface AddressBook {
  resolve(host: string): Promise<readonly string[]>;
  isPublic(address: string): boolean;
  /** Private network hosts that may be reached, in the forms of `readDomainGrant`; a lone `*` names none. */
  readonly privateHosts?: readonly string[];
  /** Which addresses such a host may have besides public ones. Never this machine or a metadata service. */
  isPrivate?(address: string): boolean;
}

/** Whether a URL's host is one that the user listed as a private network host. */
export function isNamedPrivate(url: URL, hosts: readonly string[]): boolean {
  const port = url.port === "" ? (DEFAULT_PORTS.get(url.protocol) ?? 0) : Number(url.port);
  return isNamed({ host: url.hostname, port, isDefaultPort: url.port === "" }, hosts);
}

function isNamed(destination: Destination, hosts: readonly string[]): boolean {
  return isGranted(
    destination,
    hosts.filter((host) => readDomainGrant(host)?.host !== ""),
  );
}

export const SYSTEM_ADDRESSES: AddressBook = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  isPublic: isPublicAddress,
  isPrivate: isPrivateAddress,
};

/**
 * Second half: where a host resolves to. All its addresses must be public, since a mix of public and private ones is
 * more often a trick than a mistake.
 */
async function resolvePublic(
  host: string,
  book: AddressBook,
  mayBePrivate: boolean,
): Promise<Result<readonly string[], EgressRefusal>> {
  const isReached = (address: string): boolean =>
    book.isPublic(address) || (mayBePrivate && (book.isPrivate ?? isPrivateAddress)(address));
  const addresses = isIP(host) ? [host] : await resolveName(host, book);
  if (addresses.length === 0) {
    return refuseEgress("unresolved", `\`${host}\` has no address. Check the spelling and the network.`);
  }
  const special = addresses.find((address) => isIP(address) === 0 || !isReached(address));
  if (special === undefined) return done(addresses);
  const what = nameSpecialAddress(special) ?? "not a public address";
  const which =
    special === host ? `\`${host}\` is ${what}` : `\`${host}\` resolves to \`${special}\`, ${what}`;
  const reached = mayBePrivate ? "private network addresses" : "public addresses";
  return refuseEgress("private-address", `${which}; only ${reached} can be reached.`);
}

async function resolveName(host: string, book: AddressBook): Promise<readonly string[]> {
  try {
    return await book.resolve(host);
  } catch {
    return []; // Whatever the resolver's error, there is no address.
  }
}

interface DomainGrant {
  /** As in URLs: lowercase, punycode, IPv6 in brackets. Empty for `*`. */
  readonly host: string;
  /** Whether it covers the subdomains, not `host` itself. */
  readonly isWildcard: boolean;
  /** Absent: the default port of the scheme. */
  readonly port?: number | undefined;
}

interface Destination {
  /** As URLs have it. */
  readonly host: string;
  readonly port: number;
  readonly isDefaultPort: boolean;
}

const GRANT = /^(\*(?:\.|(?=:|$)))?([^\s/?#@\\*]*?)(?::(\d{1,5}))?$/;

/**
 * Parses granted domains, as in `[sandbox] network` and a manifest's `sandbox.network`: `example.com` is only that
 * host; `*.example.com` all its subdomains, not itself; `*` every public host; `192.0.32.7` and `[2606:2800::1]` an
 * address. Each covers its scheme's default port, or one port, as in `example.com:8443`. `undefined` for anything else,
 * which grants nothing.
 */
export function readDomainGrant(text: string): DomainGrant | undefined {
  const [matched, star, name = "", digits] = GRANT.exec(text.trim()) ?? [];
  if (matched === undefined) return undefined;
  const port = digits === undefined ? undefined : Number(digits);
  if (port === 0 || (port ?? 0) > 65_535) return undefined;
  if (star === "*") return name === "" ? { host: "", isWildcard: true, port } : undefined;
  const host = URL.parse(`http://${name}/`)?.hostname.replace(/\.$/, "");
  if (!host || (star !== undefined && isAddress(host))) return undefined;
  return { host, isWildcard: star !== undefined, port };
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

/** URLs normalize IPv4 addresses to four parts. */
export function isAddress(host: string): boolean {
  return host.startsWith("[") || /^\d+\.\d+\.\d+\.\d+$/.test(host);
}

/*
 * Which addresses are not on the public internet: IANA's special-purpose registries, and cloud metadata services with
 * public-looking addresses. An invalid address is not public either.
 */

type Family = "ipv4" | "ipv6";

const PRIVATE = "a private address";
const CARRIER = "a carrier network address";

/** Only `2000::/3` of IPv6 is assigned; the rows exclude parts of it. The first matching row counts. */
const SPECIAL: Readonly<Record<string, string>> = {
  "an unspecified address": "0.0.0.0/8",
  "the unspecified address": "::/128",
  "a loopback address": "127.0.0.0/8",
  "the loopback address": "::1/128",
  [PRIVATE]: "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10",
  [CARRIER]: "100.64.0.0/10",
  "a cloud metadata service": "168.63.129.16/32",
  "a link-local address, as used by metadata services": "169.254.0.0/16",
  "a link-local address": "fe80::/10",
  "a documentation address": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
  "a benchmark address": "198.18.0.0/15",
  "a 6to4 relay address": "192.88.99.0/24",
  "an IPv4 address in a 6to4 tunnel": "2002::/16",
  "an IPv4 address in a Teredo tunnel": "2001::/32",
  "an IPv4 address in IPv6 form": "::ffff:0:0/96",
  "an IPv4 address behind NAT64": "64:ff9b::/96 64:ff9b:1::/48",
  "an address reserved for protocols": "192.0.0.0/24 2001::/23",
  "a multicast address": "224.0.0.0/4 ff00::/8",
  "a reserved address": "240.0.0.0/4 ::/3 4000::/2 8000::/1",
};

interface SpecialBlock {
  readonly family: Family;
  readonly block: BlockList;
  readonly what: string;
}

let blocks: readonly SpecialBlock[] | undefined;

function buildBlocks(): readonly SpecialBlock[] {
  const { BlockList } = process.getBuiltinModule("node:net");
  const rows = Object.entries(SPECIAL).flatMap(([what, subnets]) =>
    subnets.split(" ").map((subnet) => ({ what, subnet })),
  );
  return rows.map(({ what, subnet }) => {
    const [start = "", prefix] = subnet.split("/");
    const family: Family = start.includes(":") ? "ipv6" : "ipv4";
    const block = new BlockList();
    block.addSubnet(start, Number(prefix), family);
    return { family, block, what };
  });
}

/** What a special address is, such as `a loopback address`; `undefined` for a public one. */
export function nameSpecialAddress(address: string): string | undefined {
  const version = isIP(address);
  if (version === 0) return "no address";
  if (address.includes("%")) return "an address bound to one network interface";
  const family: Family = version === 4 ? "ipv4" : "ipv6";
  // Only rows of the same family: a block list treats any IPv4 address as part of `::/3`.
  blocks ??= buildBlocks();
  return blocks.find((row) => row.family === family && row.block.check(address, family))?.what;
}

export function isPublicAddress(address: string): boolean {
  return nameSpecialAddress(address) === undefined;
}

function isPrivateAddress(address: string): boolean {
  const what = nameSpecialAddress(address);
  return what === PRIVATE || what === CARRIER;
}
