/** What a tool is given in tests that need no files. */
import type { ToolContext, ToolLog } from "@metier/run";

const silent = (): void => undefined;
const log: ToolLog = { debug: silent, info: silent, warn: silent, error: silent };

export function toolContext(given: Partial<ToolContext> = {}): ToolContext {
  const world = { cwd: "/", workDir: "/", readable: [], writable: [], masked: [], protectedPaths: [] };
  const { signal } = new AbortController();
  const call = { callId: "1", caller: {}, runId: "run", skill: "skill", log, signal };
  return { ...call, world, env: {}, network: [], ...given };
}
