/** What a caller says when it asks for a run, and the run that asks when one skill starts another. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { RunEvent } from "../events/run-event.ts";
import type { RunSink } from "../events/run-recorder.ts";
import type { InvocationSource } from "../foundation/errors.ts";
import type { ConversationMemory } from "../invoke/inline.ts";
import type { Caller, SkillRequest } from "../invoke/invocation.ts";
import type { ResolvedModel } from "../model/model-request.ts";
import type { World } from "../sandbox/world.ts";
import type { Redactor } from "../secrets/redaction.ts";
import type { Trust } from "../skill/skill.ts";
import type { AskUser } from "../tools/ask-user.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolPolicy } from "../tools/tool-policy.ts";
import type { AskApproval, QuestionQueue } from "./approvals.ts";
import type { Budget } from "./budget.ts";
import type { RunLimits } from "./run-limits.ts";

export interface RunRequest extends SkillRequest {
  /** Default: `code`. */
  readonly source?: InvocationSource;
  readonly caller?: Caller;
  /** An alias, `provider/model`, or a model of the AI SDK. */
  readonly model?: string | LanguageModelV4;
  readonly limits?: Partial<RunLimits>;
  /** Whether a trusted run may write to the working directory. */
  readonly write?: boolean;
  /** `all`: yes to every question the tool policy would ask. Absent: nobody can be asked, so no. */
  readonly approve?: "all" | AskApproval;
  readonly askUser?: AskUser;
  /** What the user wrote last, word for word, when a model passes the task on. */
  readonly userMessage?: string;
  /** Tools of the embedding program for this call, and for the skills it starts, beside those of `createMetier`. */
  readonly tools?: readonly Tool[];
  /** Values for variables the skill declares, beside those of the user's config. */
  readonly env?: Readonly<Record<string, string>>;
  /** A file that keeps the events, to be replayed. */
  readonly record?: string;
  readonly signal?: AbortSignal;
  /** Every event as it happens, of nested runs too. */
  readonly onEvent?: (event: RunEvent) => void;
}

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
