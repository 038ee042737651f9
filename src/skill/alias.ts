/** A manifest by another name than its own: what a lock calls an installed skill. Its own stays for display. */
import type { SkillManifest } from "./manifest.ts";

export function withAlias(manifest: SkillManifest, alias: string | undefined): SkillManifest {
  if (alias === undefined || alias === manifest.name) return manifest;
  return { ...manifest, name: alias, displayName: manifest.displayName ?? manifest.name };
}
