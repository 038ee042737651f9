/** What a caller says when it asks for a run. */
import type { ConfirmMutation } from "../capabilities/capability-broker.ts";
import type { RunEvent } from "../events/run-event.ts";
import type { InvocationSource } from "../foundation/errors.ts";
import type { Caller, SkillRequest } from "../invoke/invocation.ts";
import type { GivenModel } from "../model/given-model.ts";
import type { AskUser } from "../tools/ask-user.ts";
import type { Tool } from "../tools/tool.ts";
import type { AskApproval } from "./approvals.ts";
import type { RunLimits } from "./run-limits.ts";

export interface RunRequest extends SkillRequest {
  /** Default: `code`. */
  readonly source?: InvocationSource;
  readonly caller?: Caller;
  /** An alias, `provider/model`, or a model of the AI SDK. */
  readonly model?: string | GivenModel;
  readonly limits?: Partial<RunLimits>;
  /** Whether a trusted run may write to the working directory. */
  readonly write?: boolean;
  /** An existing folder that is nobody else's, in place of a new work folder; it is not removed with the run. */
  readonly workDir?: string;
  /** `all`: yes to every question the tool policy would ask. Absent: nobody can be asked, so no. */
  readonly approve?: "all" | AskApproval;
  readonly askUser?: AskUser;
  /** Asked before a capability changes something; `approve` does not answer it. Default: that of `createMetier`. */
  readonly confirm?: ConfirmMutation;
  /** What the user wrote last, word for word, when a model passes the task on. */
  readonly userMessage?: string;
  /** Tools of the embedding program for this call, and for the skills it starts, beside those of `createMetier`. */
  readonly tools?: readonly Tool[];
  /** Values for variables the skill declares, beside those of the user's config. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute paths of files with secrets, such as the one `env` was read from: no run sees them. */
  readonly privateFiles?: readonly string[];
  /** A file that keeps the events, to be replayed. */
  readonly record?: string;
  readonly signal?: AbortSignal;
  /** Hears of what takes long before a run begins, such as the installation of packages: one line each. */
  readonly onProgress?: (message: string) => void;
  /** Every event as it happens, of nested runs too. */
  readonly onEvent?: (event: RunEvent) => void;
}
