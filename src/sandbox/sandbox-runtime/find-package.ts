/**
 * `@anthropic-ai/sandbox-runtime` is not part of Metier: who wants it installs it beside Metier, and it is loaded from
 * there alone, never from the working directory.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

export const PACKAGE = "@anthropic-ai/sandbox-runtime";

/** The one function that is used: it makes a command line from a policy, keeps no state and starts nothing. */
export interface SandboxRuntime {
  wrap(command: string, shell: string, policy: RuntimePolicy): Promise<string>;
  /** Once for each `wrap`, when the command has ended. */
  release(): void;
  readonly version: string;
  readonly folder: string;
}

export interface RuntimePolicy {
  readonly denyRead: readonly string[];
  /** Beats `denyRead` for what lies deeper. */
  readonly allowRead: readonly string[];
  readonly allowWrite: readonly string[];
  /** Beats `allowWrite`. */
  readonly denyWrite: readonly string[];
}

export async function findSandboxRuntime(): Promise<SandboxRuntime | undefined> {
  let main: string;
  try {
    main = createRequire(import.meta.url).resolve(PACKAGE);
  } catch {
    return undefined; // It is not installed.
  }
  const folder = dirname(dirname(main));
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  const { SandboxManager } = (await import(
    pathToFileURL(main).href
  )) as typeof import("@anthropic-ai/sandbox-runtime");
  const literal = (paths: readonly string[]): { path: string; literal: true }[] =>
    paths.map((path) => ({ path, literal: true }));
  return {
    version,
    folder,
    wrap: (command, shell, { denyRead, allowRead, allowWrite, denyWrite }) =>
      SandboxManager.wrapWithSandbox(command, shell, {
        // Without `initialize` there is no proxy, so this means no network at all.
        network: { allowedDomains: [], deniedDomains: [] },
        filesystem: {
          denyRead: literal(denyRead),
          allowRead: literal(allowRead),
          allowWrite: literal(allowWrite),
          denyWrite: literal(denyWrite),
        },
      }),
    release: () => SandboxManager.cleanupAfterCommand(),
  };
}
