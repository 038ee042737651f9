/**
 * The first half of the egress gate: whether a URL may be fetched by its text alone. Touches no network; where the host
 * leads is checked by `resolve-public.ts`, for the URL and for every redirect.
 */
import { showPath } from "../host/contained-path.ts";
import { isAddress, isGranted, readDomainGrant } from "./domain-grants.ts";
import { type EgressFault, refuseEgress } from "./egress-fault.ts";

export type UrlOutcome =
  | {
      readonly ok: true;
      /** Without a fragment and without a dot at the end of the host. */
      readonly url: URL;
      /** What is resolved, or an address without brackets. */
      readonly host: string;
    }
  | EgressFault;

const MAX_LENGTH = 8192;
const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ["http:", 80],
  ["https:", 443],
]);
/** A URL's host is in punycode; `_` is no host name, but real ones have it. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
/** Never public, whoever grants them. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|lan|home\.arpa)$/;
const MAX_GRANTS_SHOWN = 10;

/** `network`: granted domains, in the forms of `domain-grants.ts`. */
export function checkUrl(text: string, network: readonly string[]): UrlOutcome {
  if (text.length > MAX_LENGTH) {
    const message = `The URL has ${text.length} characters; at most ${MAX_LENGTH} are allowed.`;
    return refuseEgress("invalid", message);
  }
  const url = URL.parse(text);
  if (url === null) {
    return refuseEgress(
      "invalid",
      `${showPath(text)} is not a URL. Give an absolute one, as \`https://example.com/page\`.`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    return refuseEgress(
      "credentials",
      `The URL for \`${url.host}\` carries a user name or password. Write it without.`,
    );
  }
  const defaultPort = DEFAULT_PORTS.get(url.protocol);
  if (defaultPort === undefined) {
    const scheme = `\`${url.protocol.slice(0, 40)}\``;
    return refuseEgress(
      "invalid",
      `${showPath(text)} is a URL of ${scheme}; only \`https:\` and \`http:\` are fetched.`,
    );
  }
  url.hash = "";
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  return checkHost(url, defaultPort, network);
}

function checkHost(url: URL, defaultPort: number, network: readonly string[]): UrlOutcome {
  const { hostname } = url;
  if (!isAddress(hostname)) {
    if (!HOST_NAME.test(hostname)) {
      return refuseEgress("invalid", `${showPath(hostname)} is not a host name.`);
    }
    if (LOCAL_NAME.test(hostname) || !hostname.includes(".")) {
      const message = `\`${hostname}\` is a name of this machine or its local network; only public hosts are reached.`;
      return refuseEgress("local-name", message);
    }
  }
  const port = url.port === "" ? defaultPort : Number(url.port);
  const isDefaultPort = url.port === "";
  if (!isGranted({ host: hostname, port, isDefaultPort }, network)) {
    return refuseEgress(
      "not-granted",
      describeMissingGrant(isDefaultPort ? hostname : `${hostname}:${port}`, network),
    );
  }
  return { ok: true, url, host: hostname.replace(/^\[|\]$/g, "") };
}

function describeMissingGrant(wanted: string, network: readonly string[]): string {
  const how =
    `The user grants it in the config, \`[sandbox]\` \`network = ["${wanted}"]\`; a skill asks for it by ` +
    "`sandbox.network` in its manifest. Untrusted skills have no network.";
  if (network.length === 0) return `\`${wanted}\` is not granted: this run has no network. ${how}`;
  const shown = network.slice(0, MAX_GRANTS_SHOWN).map((text) => {
    return readDomainGrant(text) === undefined ? `${showPath(text)} (not a domain)` : showPath(text);
  });
  const more = network.length > MAX_GRANTS_SHOWN ? ` and ${network.length - MAX_GRANTS_SHOWN} more` : "";
  return `\`${wanted}\` is not granted. Granted are ${shown.join(", ")}${more}. ${how}`;
}
