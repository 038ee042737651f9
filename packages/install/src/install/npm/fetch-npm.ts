/**
 * npm packages as sources: the tarball of one version, compared with the registry's digest and unpacked like any
 * archive. npm itself is asked only for its registry; no script of the package runs.
 */
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import type { Diagnostic } from "@metier/base/diagnostic";
import { showPath } from "@metier/base/files";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import valid from "semver/functions/valid.js";
import maxSatisfying from "semver/ranges/max-satisfying.js";
import validRange from "semver/ranges/valid.js";
import type { NpmAddress } from "../addresses/source-address.ts";
import { unpackArchive } from "../archives/unpack-archive.ts";
import { download } from "../download.ts";
import type { FetchContext, SourceFetch } from "../fetch-source.ts";
import { describeRefusal, faulty, type InstallFault } from "../install-fault.ts";
import {
  askNpmForRegistry,
  findNpm,
  nodeRegistry,
  type PackageDocument,
  type PackageVersion,
  readPackageDocument,
} from "./npm-registry.ts";

/** A package with thousands of versions has a long document. */
const MAX_DOCUMENT_BYTES: number = 64 * 1024 * 1024;

export async function fetchNpm(address: NpmAddress, context: FetchContext): Promise<SourceFetch> {
  const { name, range, path, canonical } = address;
  const registry = await findRegistry(name, context);
  if (!registry.ok) return registry;
  const found = await findVersion(address, registry.value, context);
  if (!found.ok) return found;
  const { version, entry } = found.value;
  const got = await download(
    { url: entry.tarball, typed: registry.value, maxBytes: context.limits.bytes },
    context,
  );
  if (!got.ok) return got;
  const what = `\`${name}@${version}\``;
  const digest = `sha512-${createHash("sha512").update(got.value.bytes).digest("base64")}`;
  if (digest !== entry.integrity) {
    const message = `${what} does not match the registry: its digest is \`${digest}\`, not \`${entry.integrity}\`.`;
    return faulty(
      "source.damaged",
      message,
      "Try again; if it happens again, tell the operator of the registry.",
    );
  }
  try {
    const { folder, diagnostics: remarks } = await unpackArchive(got.value.bytes, context.into, context);
    const resolved = `${version} ${digest}`;
    const diagnostics = [...got.value.diagnostics, ...reportDeprecated(what, entry), ...remarks];
    const paths = path === "" ? undefined : [path];
    return done({ folder, resolved, ref: range, canonical, paths, diagnostics });
  } catch (fault) {
    return describeRefusal(fault, what);
  }
}

/** Which version the address means now, as the lock would record it; downloads nothing. */
export async function resolveNpm(
  address: NpmAddress,
  context: FetchContext,
): Promise<Result<string, InstallFault>> {
  const registry = await findRegistry(address.name, context);
  if (!registry.ok) return registry;
  const found = await findVersion(address, registry.value, context);
  return found.ok ? done(`${found.value.version} ${found.value.entry.integrity}`) : found;
}

function reportDeprecated(what: string, { deprecated, tarball }: PackageVersion): readonly Diagnostic[] {
  if (deprecated === undefined) return [];
  const message = `${what} is deprecated: ${showPath(deprecated)}.`;
  return [{ code: "source.deprecated", severity: "warning", path: tarball, message }];
}

/**
 * From the config, otherwise as npm is set up for this user; for a scoped package, npm's setting for the scope comes
 * first.
 */
async function findRegistry(
  name: string,
  { environment, registry: configured }: FetchContext,
): Promise<Result<string, InstallFault>> {
  const npm = findNpm(environment);
  const home = { home: environment.HOME ?? homedir() };
  const [scope] = /^@[^/]+/.exec(name) ?? [];
  const askGeneral = async (): Promise<string | undefined> =>
    npm ? askNpmForRegistry(npm, home, environment) : environment.npm_config_registry;
  const ofScope = scope && npm && (await askNpmForRegistry(npm, home, environment, `${scope}:registry`));
  const address = ofScope || (configured ?? (await askGeneral()));
  if (npm === undefined && address === undefined) {
    const hint = "Install npm, or set a registry in `environments.node-registry` of your config.";
    return faulty("source.unreachable", "npm was not found, so the registry is unknown.", hint);
  }
  const registry = nodeRegistry(address ?? ""); // npm does not print an address with a password.
  if (registry !== undefined) return done(registry.url);
  return faulty(
    "source.refused",
    "npm's registry setting is not a URL, or contains a user name and password.",
    "Set it without one (`npm config set registry https://…`); Metier does not fetch packages that need a sign-in.",
  );
}

async function findVersion(
  { name, range }: NpmAddress,
  registry: string,
  context: FetchContext,
): Promise<Result<{ readonly version: string; readonly entry: PackageVersion }, InstallFault>> {
  const url = new URL(name.replace("/", "%2f"), registry).href;
  const got = await download({ url, typed: registry, maxBytes: MAX_DOCUMENT_BYTES, packed: true }, context);
  if (!got.ok) {
    if (got.refusal.code !== "source.not_found") return got;
    const hint = "Check the spelling, and the registry that npm uses: `npm config get registry`.";
    return faulty("source.not_found", `The registry \`${registry}\` has no package \`${name}\`.`, hint);
  }
  const document = readPackageDocument(got.value.bytes.toString());
  if (document === undefined) {
    const message = `The registry \`${registry}\` sent an invalid answer for \`${name}\`.`;
    const hint = "Check the registry that npm uses: `npm config get registry`.";
    return faulty("source.damaged", message, hint);
  }
  const choice = chooseVersion(range, document);
  if (!choice.ok) return describeChoice(name, range, choice.refusal, document);
  const version = choice.value;
  const entry = document.find(version);
  if (entry !== undefined) return done({ version, entry });
  return faulty(
    "source.unsafe",
    `\`${name}@${version}\` has no tarball with a SHA-512 digest, so its content cannot be verified.`,
    "Ask its author to publish it again.",
  );
}

function describeChoice(
  name: string,
  range: string,
  reason: "unsupported" | "none",
  { tags, versions }: PackageDocument,
): Refused<InstallFault> {
  if (reason === "unsupported") {
    const hint = `Write a version, a tag, or a range such as \`^1.2\`, \`~1.2\` or \`1.x\`; \`latest\` is ${tags.latest ?? "unknown"}.`;
    return faulty("source.invalid", `The range ${showPath(range)} is not supported.`, hint);
  }
  const known = [...Object.keys(tags).slice(0, 5), ...versions.slice(-5)].map(showPath).join(", ");
  const hint = known === "" ? "It has no versions." : `It has ${known}.`;
  return faulty("source.ref_not_found", `\`${name}\` has no version ${showPath(range)}.`, hint);
}

const SIMPLE = /^[\^~]?v?[\dx*][\w.*+-]*$/i;
const TAG = /^[a-z][a-z0-9._-]*$/i;

/**
 * A version, a tag, or one of the simple ranges `^1.2`, `~1.2.3`, `1.x`, `1` and `*`. Others are refused with a
 * suggestion: installing one skill needs no more.
 */
export function chooseVersion(
  asked: string,
  { versions, tags }: Pick<PackageDocument, "versions" | "tags">,
): Result<string, "unsupported" | "none"> {
  const choose = (version: string | null): Result<string, "none"> =>
    version === null ? refused("none") : done(version);
  const tagged = Object.hasOwn(tags, asked) ? tags[asked] : undefined;
  if (tagged !== undefined) return choose(versions.includes(tagged) ? tagged : null);
  const range = asked.replace(/^([\^~]?)v/i, "$1");
  if (!SIMPLE.test(asked) || validRange(range) === null) {
    return refused(TAG.test(asked) ? "none" : "unsupported");
  }
  if (valid(range) !== null) return choose(versions.includes(range) ? range : null);
  // Like npm: publishers mark the ready version with `latest`.
  const ready = versions.filter((version) => version === tags.latest);
  return choose(maxSatisfying(ready, range) ?? maxSatisfying(versions, range));
}
