/** What whoever starts an MCP server says about it; everything has a default that gives away less. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Caller } from "../invoke/invocation.ts";
import type { RunRequest } from "../run/run-request.ts";

/** How skills are run that need a run of their own. Nobody can be asked, so what the tool policy would ask about is denied. */
export type McpRunOptions = Pick<
  RunRequest,
  "model" | "limits" | "write" | "approve" | "confirm" | "tools" | "onEvent"
>;

export interface McpServerOptions {
  /** Who asks. Default: nobody, so that sensitive skills and those that are kept to some chats are not served. */
  readonly caller?: Caller;
  /** Makes `use_skill` run skills that need a run. Default: they are refused (`needs-run`). */
  readonly run?: McpRunOptions;
  /** Whether the skills' folders are watched, and clients told of changes. Default: yes. */
  readonly watch?: boolean;
  /** Hears, once each, which skills are left out of `skills/list` and why, and of faults of connections. */
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void;
}
