/** Providers that need no config of their own: `[skills.<name>] enabled = true` wires the one of that name. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { CapabilityProviderConfig } from "../../config/config.ts";
import { packageFolder } from "../../host/package-folder.ts";

const PRESETS: ReadonlyMap<string, () => CapabilityProviderConfig> = new Map([
  ["gog", () => ({ command: ["gogcli", "bridge"] })],
  ["desk", () => ({ command: bundledCommand("desk") })],
]);

export function providerPreset(name: string): CapabilityProviderConfig | undefined {
  return PRESETS.get(name)?.();
}

export function providerPresetNames(): readonly string[] {
  return [...PRESETS.keys()];
}

/** A bridge that comes with this package: its source in a folder of its own, or built at `dist/providers`. */
function bundledCommand(name: string): readonly string[] {
  const source = join(dirname(fileURLToPath(import.meta.url)), "..", "..", name, "bridge.ts");
  const built = join(packageFolder() ?? "/", "dist", "providers", `${name}.mjs`);
  // What Node warns of when it strips types differs between versions, and is nothing to anyone.
  return [process.execPath, "--no-warnings", existsSync(source) ? source : built];
}
