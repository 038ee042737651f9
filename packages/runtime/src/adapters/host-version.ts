/**
 * Fails early if the installed version of an adapter's host package is unsupported, instead of with a `TypeError`
 * somewhere inside it. It looks where the package would be imported from, and loads nothing.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { UsageError } from "@metier/base/errors";
import { packageFolder } from "@metier/base/files";

/** The versions each adapter supports; the published package's `peerDependencies` match. */
const HOSTS = {
  "ai-sdk": { package: "ai", from: [6, 0], below: 8, isPart: false },
  claude: { package: "@anthropic-ai/claude-agent-sdk", from: [0, 1], below: 1, isPart: true },
  langchain: { package: "langchain", from: [1, 0], below: 2, isPart: false },
  mastra: { package: "@mastra/core", from: [1, 0], below: 2, isPart: false },
  openai: { package: "@openai/agents", from: [0, 2], below: 1, isPart: true },
} as const satisfies Readonly<Record<string, HostPackage>>;

interface HostPackage {
  readonly package: string;
  /** The first supported version. */
  readonly from: readonly [major: number, minor: number];
  /** The first untested major version. */
  readonly below: number;
  /** The rest of the adapter works without it, so it only warns. */
  readonly isPart: boolean;
}

/**
 * Throws `UsageError` if the version is too old, and warns if it is newer than any tested one. A package that isn't
 * found, as in a bundle, is assumed to fit. `start`: where to look from; default: Metier's folder.
 */
export function checkHostVersion(adapter: keyof typeof HOSTS, start = packageFolder()): void {
  const host: HostPackage = HOSTS[adapter];
  const found = start === undefined ? undefined : findVersion(host.package, start);
  const [, major = "", minor = ""] = /^(\d+)\.(\d+)\./.exec(found?.version ?? "") ?? [];
  if (found === undefined || major === "") return;
  const [firstMajor, firstMinor] = host.from;
  const isOld = Number(major) < firstMajor || (Number(major) === firstMajor && Number(minor) < firstMinor);
  if (!isOld && Number(major) < host.below) return;
  const works = `\`metier/${adapter}\` needs \`${host.package}\` ${host.from.join(".")} or newer, below ${host.below}`;
  const message = `${works}; ${found.folder} has ${found.version}.`;
  const hint = `Install a supported version: \`npm install "${host.package}@<${host.below}"\`.`;
  if (isOld && !host.isPart) throw new UsageError(message, { hint });
  process.emitWarning(`${message} ${hint}`, { type: "MetierWarning" });
}

function findVersion(
  name: string,
  start: string,
): { readonly version: string; readonly folder: string } | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    const place = join(folder, "node_modules", name);
    const version = readVersion(join(place, "package.json"));
    if (version !== undefined) return { version, folder: place };
    if (dirname(folder) === folder) return undefined;
  }
}

function readVersion(file: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(file, "utf8")) as { readonly version?: unknown };
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined; // Missing, or not a package.
  }
}
