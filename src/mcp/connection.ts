/** What everything that answers a client needs: whose skills, for whom, and what the client was given so far. */
import type { Conversation } from "../disclose/conversation.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { SkillLibrary } from "../tools/skills/skill-tool.ts";
import type { McpServerOptions } from "./mcp-options.ts";

export interface Connection {
  readonly metier: Metier;
  /** The skills that the caller's model may use. */
  readonly library: SkillLibrary;
  readonly conversation: Conversation;
  readonly options: McpServerOptions;
}
