/** What a run declares, is granted or has used, on one line. */
import type { SandboxUse } from "../../run/run-result.ts";

/** `network example.com; write /data`; empty where there is nothing. */
export function reachText(reach: SandboxUse): string {
  return Object.entries(reach)
    .filter(([, list]) => list.length > 0)
    .map(([kind, list]) => `${kind} ${list.join(", ")}`)
    .join("; ");
}
