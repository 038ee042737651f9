/** What a registry says about a package, as far as it is needed to fetch one version of it. */

import { isJsonObject, type JsonFields, parseJsonObject } from "../json-object.ts";
import type { KnownVersions } from "./choose-version.ts";

export interface PackageDocument extends KnownVersions {
  /** `undefined` when the version has no tarball, or none whose content is fixed. */
  find(version: string): PackageVersion | undefined;
}

export interface PackageVersion {
  readonly tarball: string;
  /** `sha512-…` in base 64. */
  readonly integrity: string;
  /** What its author says about not using it. */
  readonly deprecated?: string;
}

const SHA512 = /(?:^|\s)(sha512-[A-Za-z0-9+/]{86}==)(?=\s|\?|$)/;

/** `undefined` for a text that is no such document. */
export function readPackageDocument(text: string): PackageDocument | undefined {
  const document = parseJsonObject(text);
  const versions = document?.versions;
  if (!isJsonObject(versions)) return undefined;
  const tags = isJsonObject(document?.["dist-tags"]) ? document["dist-tags"] : {};
  return {
    versions: Object.keys(versions),
    tags: Object.fromEntries(Object.entries(tags).filter(isTextEntry)),
    find(version) {
      const entry = Object.hasOwn(versions, version) ? versions[version] : undefined;
      return isJsonObject(entry) && isJsonObject(entry.dist) ? readVersion(entry, entry.dist) : undefined;
    },
  };
}

function readVersion(
  { deprecated }: JsonFields,
  { tarball, integrity }: JsonFields,
): PackageVersion | undefined {
  const fixed = typeof integrity === "string" ? SHA512.exec(integrity)?.[1] : undefined;
  if (typeof tarball !== "string" || !URL.canParse(tarball) || fixed === undefined) return undefined;
  return {
    tarball,
    integrity: fixed,
    ...(typeof deprecated === "string" && deprecated !== "" && { deprecated }),
  };
}

function isTextEntry(entry: [string, unknown]): entry is [string, string] {
  return typeof entry[1] === "string";
}
