/** The `trusted-paths` of the config by their real paths: only what exists can be trusted. */
import { realpathSync } from "node:fs";
import type { Diagnostic } from "../foundation/diagnostic.ts";

export interface TrustedPaths {
  readonly paths: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** `configured` are absolute paths as written; a link counts as where it leads now. */
export function resolveTrustedPaths(configured: readonly string[]): TrustedPaths {
  const paths: string[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const path of configured) {
    try {
      paths.push(realpathSync.native(path));
    } catch {
      diagnostics.push({
        code: "trust.path-missing",
        severity: "warning",
        path,
        message: `The trusted path \`${path}\` does not exist, so nothing is trusted for it.`,
        hint: "Correct or remove it in `trusted-paths`.",
      });
    }
  }
  return { paths, diagnostics };
}
