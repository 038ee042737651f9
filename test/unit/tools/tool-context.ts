/** What a tool is given in tests that need no files. */
import type { ToolContext } from "../../../src/tools/tool.ts";

export function toolContext(given: Partial<ToolContext> = {}): ToolContext {
  const world = { cwd: "/", workDir: "/", readable: [], writable: [], masked: [], protectedPaths: [] };
  return { callId: "1", world, env: {}, network: [], signal: new AbortController().signal, ...given };
}
