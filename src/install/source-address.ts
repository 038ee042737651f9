/**
 * The grammar of source addresses: what a user types after `install`, and the one way each of them is written down.
 * Reads the text alone, never the disk: `owner/repo` is GitHub also where such a folder exists, which `./` asks for.
 */
import { takeOutInvisible } from "../foundation/hidden-characters.ts";
import { showPath } from "../host/contained-path.ts";
import { type AddressOutcome, type RefusedAddress, refuseAddress } from "./addresses/address-outcome.ts";
import { kindOfFile } from "./addresses/address-parts.ts";
import { isScpForm, parseScpForm, parseSshUrl } from "./addresses/git-address.ts";
import { HOSTS, parseShorthand } from "./addresses/hosted-address.ts";
import { type LocalOptions, parseFileUrl, parseLocalPath } from "./addresses/local-address.ts";
import { parseNpmAddress } from "./addresses/npm-address.ts";
import { parseWebAddress } from "./addresses/web-address.ts";

export interface GitAddress {
  readonly kind: "git";
  /** What git is given. */
  readonly url: string;
  /** Branch, tag or commit; absent: the repository's own choice. */
  readonly ref?: string;
  /** Inside the repository: a skill, or a folder of skills; `""` is its root. */
  readonly path: string;
  /**
   * From a page such as `…/tree/feature/x/skills/a`, which does not say where the branch ends: `ref` and `path` are
   * split after the first segment, unless the repository has a longer ref that fits.
   */
  readonly splitsAnywhere?: true;
  readonly canonical: string;
}

export interface FolderAddress {
  readonly kind: "folder";
  /** Absolute. */
  readonly path: string;
  readonly canonical: string;
}

/** `archive`: `.tar.gz`, `.tgz`, `.tar` or `.zip`. `file`: one `.md` file. */
export interface DownloadAddress {
  readonly kind: "archive" | "file";
  /** `https:`, `http:` on this machine, or `file:`. */
  readonly url: string;
  /** Inside the archive; `""` is its root. */
  readonly path: string;
  readonly canonical: string;
}

export interface NpmAddress {
  readonly kind: "npm";
  readonly name: string;
  /** A version, a range, or a tag; `latest` when none was given. */
  readonly range: string;
  readonly path: string;
  readonly canonical: string;
}

export interface WellKnownAddress {
  readonly kind: "well-known";
  /** Of the index. */
  readonly url: string;
  readonly canonical: string;
}

export type SourceAddress = GitAddress | FolderAddress | DownloadAddress | NpmAddress | WellKnownAddress;

/** `ref` is what `--ref` gave: a reference of a repository, or a version of an npm package. */
export type AddressOptions = LocalOptions;

const MAX_LENGTH = 2048;
const FORMS =
  "A source is `owner/repo` (GitHub), a git URL (`https://host/x.git`, `git@host:x.git`, `file:///x`), a folder (`./x`), " +
  "an archive (`.tar.gz`, `.zip`) or `SKILL.md` by URL or path, `npm:name`, or `https://host` with an index of skills.";

/** Never throws. What was read is written down in `canonical`, which is read as the same address again. */
export function parseSourceAddress(text: string, options: AddressOptions): AddressOutcome {
  const asked = text.trim();
  return whyNoAddress(asked) ?? parseByForm(asked, options);
}

function whyNoAddress(asked: string): RefusedAddress | undefined {
  if (asked === "") return refuseAddress("The address of the source is empty.", FORMS);
  if (asked.length > MAX_LENGTH) {
    return refuseAddress(`The address has ${asked.length} characters; ${MAX_LENGTH} are allowed.`, FORMS);
  }
  if (
    !asked.isWellFormed() ||
    /[\p{Cc}\p{Zl}\p{Zp}]/u.test(asked) ||
    takeOutInvisible(asked).hidden.length > 0
  ) {
    return refuseAddress(
      `The address ${showPath(asked)} has characters that cannot be seen.`,
      "Type it anew instead of copying it.",
    );
  }
  if (asked.startsWith("-"))
    return refuseAddress(`${showPath(asked)} reads as an option, not as a source.`, FORMS);
  if (/^[a-z0-9+.-]+::/i.test(asked)) {
    return refuseAddress(
      `${showPath(asked)} would have git run a program of that name to fetch it.`,
      "Give the repository by `https://`, `ssh://` or `file://`.",
    );
  }
  return undefined;
}

function parseByForm(asked: string, options: AddressOptions): AddressOutcome {
  if (/^[./~]/.test(asked)) return parseLocalPath(asked, options);
  if (asked.startsWith("npm:")) return parseNpmAddress(asked, options);
  const [prefix = ""] = /^[a-z]+:(?!\/\/)/.exec(asked) ?? [];
  const host = HOSTS[prefix];
  if (host !== undefined) return parseShorthand(asked.slice(prefix.length), host, options);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(asked)?.[1]?.toLowerCase();
  if (scheme !== undefined) return parseUrl(scheme, `${scheme}${asked.slice(scheme.length)}`, options);
  if (/^(?:www\.)?git(?:hub|lab)\.com\//i.test(asked)) return parseWebAddress(`https://${asked}`, options);
  if (isScpForm(asked)) return parseScpForm(asked, options);
  if (/^[^/:\\\s]+\/[^\\\s]/.test(asked)) return parseNames(asked, options);
  return explainUnknown(asked);
}

function parseUrl(scheme: string, url: string, options: AddressOptions): AddressOutcome {
  switch (scheme) {
    case "https":
    case "http":
    case "git+https":
    case "git+http":
      return parseWebAddress(url, options);
    case "ssh":
      return parseSshUrl(url, options);
    case "git+ssh":
      return parseSshUrl(url.slice("git+".length), options);
    case "file":
    case "git+file":
      return parseFileUrl(url, options);
    default:
      return refuseAddress(
        `Nothing is fetched over \`${scheme}://\`.`,
        "Sources come over `https://`, `ssh://` and `file://`; most hosts have the same repository at `https://`.",
      );
  }
}

/** Names with `/` between them: GitHub, unless the first is the name of a host. */
function parseNames(asked: string, options: AddressOptions): AddressOutcome {
  const [first = ""] = asked.split("/");
  if (first.includes(".")) {
    return refuseAddress(
      `${showPath(asked)} names no owner on GitHub: ${showPath(first)} has a dot.`,
      `For a repository of that host write \`https://${asked.slice(0, 200)}\`, for a folder \`./${asked.slice(0, 200)}\`.`,
    );
  }
  if (/^[^/@#]+\/[^/@#]+$/.test(asked) && kindOfFile(asked) !== undefined) {
    return refuseAddress(
      `${showPath(asked)} reads as a repository of GitHub, but has the name of a file.`,
      `Write \`./${asked.slice(0, 200)}\` for the file, or \`github:${asked.slice(0, 200)}\` for such a repository.`,
    );
  }
  return parseShorthand(asked, "github.com", options);
}

function explainUnknown(asked: string): RefusedAddress {
  if (/^[a-z]:[\\/]|\\/i.test(asked)) {
    return refuseAddress(
      `${showPath(asked)} is a path of Windows.`,
      "Write paths with `/`, as `./skills/pdf`.",
    );
  }
  if (/^[A-Za-z0-9_.@-]+$/.test(asked)) {
    return refuseAddress(
      `${showPath(asked)} is one word, which can mean several things.`,
      `Write \`./${asked}\` for the folder or file, \`npm:${asked}\` for the npm package, or \`owner/${asked}\` for GitHub.`,
    );
  }
  return refuseAddress(`${showPath(asked)} is not the address of a source.`, FORMS);
}
