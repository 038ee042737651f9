/** The run or the conversation that starts a skill. */
import type { RunSink } from "../events/run-recorder.ts";
import type { ConversationMemory } from "../invoke/inline.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import type { World } from "../sandbox/world.ts";
import type { Redactor } from "../secrets/redaction.ts";
import type { Trust } from "../skill/skill.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";
import type { QuestionQueue } from "./approvals.ts";
import type { Budget } from "./budget.ts";

/** The run, or the conversation, in which a skill is asked for. What it may not do, no skill it starts may. */
export interface RunParent {
  readonly runId?: string;
  /** The skills that are running, outermost first. */
  readonly chain: readonly string[];
  readonly trust: Trust;
  /** What is in its conversation, and whether an untrusted text is. */
  readonly memory: ConversationMemory;
  readonly policy?: ToolPolicy;
  /** Domains; `undefined`: whatever the skill itself may reach. */
  readonly network?: readonly string[];
  /** What it sees of the machine. */
  readonly world?: World;
  readonly budget: Budget;
  readonly model?: ResolvedModel;
  /** Where its questions to a person wait, and those of the skills it starts. */
  readonly questions?: QuestionQueue;
  /** What it must not tell, no skill it starts may tell, and the reverse. */
  readonly redactor?: Redactor;
  /** A recording that nested runs share. */
  readonly recording?: RunSink;
  onChild(child: { readonly runId: string; readonly skill: string }): void;
}
