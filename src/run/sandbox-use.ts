/** What a run reached for through its tools, so that the result can say what was declared and what was used. */
import type { Tool, ToolInput } from "../tools/tool.ts";

export interface UseNotes {
  readonly network: Set<string>;
  readonly read: Set<string>;
  readonly write: Set<string>;
}

export function noteUse(used: UseNotes, { effect }: Tool, { url, path }: ToolInput): void {
  if (effect === "network" && typeof url === "string" && URL.canParse(url))
    used.network.add(new URL(url).hostname);
  if (effect === "read" && typeof path === "string") used.read.add(path);
  if (effect === "write" && typeof path === "string") used.write.add(path);
}
