/** Addresses of git repositories: how they are written down, and the forms that are git's own (`ssh://`, `git@host:path`). */
import { showPath } from "../../host/contained-path.ts";
import type { GitAddress } from "../source-address.ts";
import { type AddressOutcome, refuseAddress } from "./address-outcome.ts";
import { checkRef, type InnerParts, readFragment, splitFragment, writeFragment } from "./address-parts.ts";

/** What a program gave beside the address, as `--ref` does. */
export interface GivenRef {
  readonly ref?: string;
}

/** `prefix` is `git+` where the URL alone would be read as something else. */
export function makeGit(
  url: string,
  parts: InnerParts,
  { ref: given }: GivenRef,
  prefix = "",
): AddressOutcome {
  const { ref = given, path } = parts;
  if (given !== undefined && ref !== given) {
    return refuseAddress(
      `The address has the reference ${showPath(ref ?? "")} and another one is given beside it, ${showPath(given)}.`,
      "Give one of them.",
    );
  }
  const wrong = ref === undefined ? undefined : checkRef(ref);
  if (wrong) return wrong;
  const inner = { ...(ref !== undefined && { ref }), path };
  return {
    ok: true,
    address: { kind: "git", url, ...inner, canonical: `${prefix}${url}${writeFragment(inner)}` },
  };
}

/** The same repository at another reference, or another place in it: how what was installed is fetched again. */
export function moveGit(address: GitAddress, { ref, path }: InnerParts): GitAddress {
  const prefix = address.canonical.startsWith("git+") ? "git+" : "";
  const inner = { ...(ref !== undefined && { ref }), path };
  return {
    kind: "git",
    url: address.url,
    ...inner,
    canonical: `${prefix}${address.url}${writeFragment(inner)}`,
  };
}

const USER = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}";
const HOST = "[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?";
/** Not at its beginning `-`, which ssh or the server could take for an option. */
const SSH_PATH = "(?!-)[A-Za-z0-9_.~+@%-]+(?:/(?!-)[A-Za-z0-9_.~+@%-]+)*";
const SCP_FORM = new RegExp(`^(${USER})@(${HOST}):(/?${SSH_PATH})/?$`);
const SSH_URL = new RegExp(
  `^ssh://(?:(${USER})@)?(${HOST}|\\[[0-9A-Fa-f:.]+\\])(:\\d{1,5})?/(${SSH_PATH})/?$`,
);
const SSH_HINT =
  "Write `git@host:owner/repo.git` or `ssh://git@host/owner/repo.git`, and a reference as `#v1`.";

/** `git@host:owner/repo.git`: no scheme, a user, and a colon before any `/`. */
export function isScpForm(text: string): boolean {
  return /^[^/:@\s]*@[^/@\s]+:/.test(text);
}

export function parseScpForm(text: string, given: GivenRef): AddressOutcome {
  const [base, fragment] = splitFragment(text);
  const [, user, host, path] = SCP_FORM.exec(base) ?? [];
  if (path === undefined) return refuseAddress(`${showPath(base)} is not an address over ssh.`, SSH_HINT);
  return finishSsh(`${user}@${host?.toLowerCase()}:${path}`, fragment, given);
}

export function parseSshUrl(text: string, given: GivenRef): AddressOutcome {
  const [base, fragment] = splitFragment(text);
  if (/^ssh:\/\/[^/@]*:[^/@]*@/.test(base)) {
    return refuseAddress(
      "The address has a password in it.",
      "Write it without: ssh signs in with the keys of your agent or of `~/.ssh`.",
    );
  }
  const [, user, host = "", port = "", path] = SSH_URL.exec(base) ?? [];
  if (path === undefined) return refuseAddress(`${showPath(base)} is not an address over ssh.`, SSH_HINT);
  const at = user === undefined ? "" : `${user}@`;
  return finishSsh(`ssh://${at}${host.toLowerCase()}${port}/${path}`, fragment, given);
}

function finishSsh(url: string, fragment: string, given: GivenRef): AddressOutcome {
  const parts = readFragment(fragment);
  return parts.ok ? makeGit(url, parts.value, given) : parts;
}
