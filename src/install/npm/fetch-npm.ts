/**
 * npm packages as sources: the tarball of one version, held against the digest that the registry gives for it, and
 * unpacked like any archive. npm itself is only asked which registry it is set to; no script of the package runs.
 */
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { showPath } from "../../host/contained-path.ts";
import { unpackArchive } from "../archives/unpack-archive.ts";
import { download } from "../download.ts";
import type { FetchContext, FetchOutcome } from "../fetch-source.ts";
import { type FaultOutcome, faulty } from "../install-fault.ts";
import { describeRefusal } from "../refused-tree.ts";
import type { NpmAddress } from "../source-address.ts";
import { chooseVersion } from "./choose-version.ts";
import { askNpmForRegistry, findNpm } from "./find-npm.ts";
import { nodeRegistry } from "./node-registry.ts";
import { type PackageDocument, type PackageVersion, readPackageDocument } from "./package-document.ts";

/** A package with thousands of versions has a long document. */
const MAX_DOCUMENT_BYTES: number = 64 * 1024 * 1024;

export async function fetchNpm(address: NpmAddress, context: FetchContext): Promise<FetchOutcome> {
  const { name, range, path, canonical } = address;
  const registry = await findRegistry(name, context);
  if (!registry.ok) return registry;
  const found = await findVersion(address, registry.url, context);
  if (!found.ok) return found;
  const { version, entry } = found;
  const got = await download(
    { url: entry.tarball, typed: registry.url, maxBytes: context.limits.bytes },
    context,
  );
  if (!got.ok) return got;
  const what = `\`${name}@${version}\``;
  const digest = `sha512-${createHash("sha512").update(got.bytes).digest("base64")}`;
  if (digest !== entry.integrity) {
    const message = `${what} is not what the registry announces: its digest is \`${digest}\`, not \`${entry.integrity}\`.`;
    return faulty("source.damaged", message, "Try again; if it stays so, tell whoever runs the registry.");
  }
  try {
    const { folder, diagnostics: remarks } = await unpackArchive(got.bytes, context.into, context);
    const resolved = `${version} ${digest}`;
    const paths = path === "" ? {} : { paths: [path] };
    const diagnostics = [...got.diagnostics, ...reportDeprecated(what, entry), ...remarks];
    return { ok: true, source: { folder, resolved, ref: range, canonical, ...paths, diagnostics } };
  } catch (fault) {
    return describeRefusal(fault, what);
  }
}

/** Which version the address means now, as the lock would write it; nothing of it is downloaded. */
export async function resolveNpm(
  address: NpmAddress,
  context: FetchContext,
): Promise<{ readonly ok: true; readonly resolved: string } | FaultOutcome> {
  const registry = await findRegistry(address.name, context);
  if (!registry.ok) return registry;
  const found = await findVersion(address, registry.url, context);
  return found.ok ? { ok: true, resolved: `${found.version} ${found.entry.integrity}` } : found;
}

function reportDeprecated(what: string, { deprecated, tarball }: PackageVersion): readonly Diagnostic[] {
  if (deprecated === undefined) return [];
  const message = `The author advises against ${what}: ${showPath(deprecated)}.`;
  return [{ code: "source.deprecated", severity: "warning", path: tarball, message }];
}

type RegistryOutcome = { readonly ok: true; readonly url: string } | FaultOutcome;

/** As the config says, else as npm is set up for this user; for a package with a scope, what npm is told of that comes first. */
async function findRegistry(
  name: string,
  { environment, registry: configured }: FetchContext,
): Promise<RegistryOutcome> {
  const npm = findNpm(environment);
  const home = { home: environment.HOME ?? homedir() };
  const [scope] = /^@[^/]+/.exec(name) ?? [];
  const askGeneral = async (): Promise<string | undefined> =>
    npm ? askNpmForRegistry(npm, home, environment) : environment.npm_config_registry;
  const ofScope = scope && npm && (await askNpmForRegistry(npm, home, environment, `${scope}:registry`));
  const address = ofScope || (configured ?? (await askGeneral()));
  if (npm === undefined && address === undefined) {
    const message = "npm is not found, so nobody says where its packages are.";
    return faulty(
      "source.unreachable",
      message,
      "Install npm, or name a registry in `environments.node-registry` of your config.",
    );
  }
  const registry = nodeRegistry(address ?? ""); // npm does not tell an address with a password.
  if (registry !== undefined) return { ok: true, url: registry.url };
  return faulty(
    "source.refused",
    "npm is set to a registry that is no address, or one with a user name and password.",
    "Set it without (`npm config set registry https://…`); packages that need a sign-in are not fetched.",
  );
}

type VersionOutcome =
  | { readonly ok: true; readonly version: string; readonly entry: PackageVersion }
  | FaultOutcome;

async function findVersion(
  { name, range }: NpmAddress,
  registry: string,
  context: FetchContext,
): Promise<VersionOutcome> {
  const url = new URL(name.replace("/", "%2f"), registry).href;
  const got = await download({ url, typed: registry, maxBytes: MAX_DOCUMENT_BYTES, packed: true }, context);
  if (!got.ok) {
    return got.fault.code === "source.not_found" ? noPackage(name, registry) : got;
  }
  const document = readPackageDocument(got.bytes.toString());
  if (document === undefined) {
    const message = `The registry \`${registry}\` answers about \`${name}\` in a form that is not a registry's.`;
    return faulty(
      "source.damaged",
      message,
      "Check which registry npm is set to: `npm config get registry`.",
    );
  }
  const choice = chooseVersion(range, document);
  if (!choice.ok) return describeChoice(name, range, choice.reason, document);
  const { version } = choice;
  const entry = document.find(version);
  if (entry !== undefined) return { ok: true, version, entry };
  return faulty(
    "source.unsafe",
    `\`${name}@${version}\` has no tarball with a SHA-512 digest, so nothing tells whether it arrives as published.`,
    "Ask its author to publish it again.",
  );
}

function noPackage(name: string, registry: string): FaultOutcome {
  const hint = "Check the spelling, and which registry npm is set to: `npm config get registry`.";
  return faulty("source.not_found", `The registry \`${registry}\` has no package \`${name}\`.`, hint);
}

function describeChoice(
  name: string,
  range: string,
  reason: "unsupported" | "none",
  { tags, versions }: PackageDocument,
): FaultOutcome {
  if (reason === "unsupported") {
    const hint = `Write a version, a tag, or a range as \`^1.2\`, \`~1.2\` or \`1.x\`; \`latest\` is ${tags.latest ?? "unknown"}.`;
    return faulty("source.invalid", `${showPath(range)} is a range that is not supported.`, hint);
  }
  const known = [...Object.keys(tags).slice(0, 5), ...versions.slice(-5)].map(showPath).join(", ");
  const message = `\`${name}\` has no version ${showPath(range)}.`;
  return faulty(
    "source.ref_not_found",
    message,
    known === "" ? "It has no versions at all." : `It has ${known}.`,
  );
}
