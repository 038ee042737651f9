/** `npm:name[@range][/path]`: a package of the npm registry. */
import { showPath } from "../../host/contained-path.ts";
import { type AddressOutcome, refuseAddress } from "./address-outcome.ts";
import { readInnerPath } from "./address-parts.ts";
import type { GivenRef } from "./git-address.ts";

const PACKAGE = /^((?:@[^/@]+\/)?[^/@]+)(?:@([^/]*))?(?:\/(.*))?$/;
const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
/** Versions, ranges (`^1.2`, `>=1 <2`, `1.x || 2.x`) and tags (`latest`). */
const RANGE = /^[a-z0-9.^~<>=|*+_ -]{1,128}$/i;
const MAX_NAME_LENGTH = 214;
const LATEST = "latest";
const HINT = "Write `npm:name`, `npm:@scope/name`, `npm:name@^1.2` or `npm:name@1.2.0/path`.";

export function parseNpmAddress(text: string, given: GivenRef): AddressOutcome {
  const [, name = "", written, inner = ""] = PACKAGE.exec(text.slice("npm:".length)) ?? [];
  if (!NAME.test(name) || name.startsWith("-")) {
    return refuseAddress(`${showPath(text)} names no npm package.`, HINT);
  }
  if (name.length > MAX_NAME_LENGTH) {
    return refuseAddress(
      `The package name has ${name.length} characters; ${MAX_NAME_LENGTH} are allowed.`,
      HINT,
    );
  }
  if (written !== undefined && given.ref !== undefined && written !== given.ref) {
    return refuseAddress(
      `The address asks for ${showPath(written)} and another version is given beside it, ${showPath(given.ref)}.`,
      "Give one of them.",
    );
  }
  const range = written ?? given.ref ?? LATEST;
  if (!RANGE.test(range) || range.startsWith("-") || range.trim() !== range) {
    return refuseAddress(`${showPath(range)} is no version, range or tag of an npm package.`, HINT);
  }
  const path = readInnerPath(inner);
  if (!path.ok) return path;
  const version = range === LATEST ? "" : `@${range}`;
  const canonical = `npm:${name}${version}${path.value === "" ? "" : `/${path.value}`}`;
  return { ok: true, address: { kind: "npm", name, range, path: path.value, canonical } };
}
