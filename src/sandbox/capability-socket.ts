/** The socket of the capabilities, as the commands of each backend see it. */
import { CAPABILITY_SOCKET } from "./inside/places.ts";
import type { SandboxBackend } from "./sandbox.ts";

/** Under these names `metier-sb` is found where a command has capabilities. */
export const CLIENT_NAMES = ["metier-sb", "ash-sb"] as const;

/**
 * For `METIER_RPC_SOCKET`. Nothing: commands of this backend reach no socket, so a skill has no capabilities there, and
 * `SandboxCommand.capabilitySocket` is not to be set.
 */
export function seenCapabilitySocket(backend: SandboxBackend, socket: string): string | undefined {
  if (backend === "bubblewrap") return CAPABILITY_SOCKET;
  return backend === "none" ? socket : undefined;
}

/** Why a backend refuses a command that is to have capabilities. */
export function whyNoCapabilities(backend: SandboxBackend): string {
  return `Commands of the backend \`${backend}\` reach no socket, so none of them can have capabilities: use the backend \`bubblewrap\`.`;
}
