/** What a check is asked about, and what it may ask the host. A check decides one thing and changes nothing. */
import type { LoadedConfig } from "../../config/config.ts";
import type { Environment } from "../../host/find-command.ts";
import type { HeldSkill } from "../../scan/hold-back.ts";
import type { Skill, TrustDecision } from "../../skill/skill.ts";
import type { EffectiveTrust } from "../effective-trust.ts";
import type { Caller, Invocation, RefusalCause } from "../invocation.ts";
import type { InputReading } from "../read-input.ts";

export interface CheckSubject {
  readonly invocation: Invocation;
  /** As its file states it now, not as the catalog remembers it. */
  readonly skill: Skill;
  readonly execution: "inline" | "isolated";
  readonly trust: EffectiveTrust;
  /** Whether values of the user's config may reach it. */
  readonly userValues: TrustDecision;
  readonly input: InputReading;
  /** Values for its variables that are the caller's own, not the user's. */
  readonly given: Readonly<Record<string, string>>;
  readonly loaded: Pick<LoadedConfig, "config" | "origins">;
  readonly host: InvocationHost;
}

/** What the host can say about itself. */
export interface InvocationHost {
  /** Of this process: what a skill requires of the machine is looked up in it. */
  readonly environment: Environment;
  /** Names of the tools that its run, or the conversation, has. Absent: none are known. */
  readonly tools?: readonly string[] | ((subject: CheckSubject) => readonly string[]);
  /** Why declared capabilities cannot be used by this caller. Absent: nobody can perform any. */
  capabilities?(ids: readonly string[], caller: Caller): CapabilityAnswer | Promise<CapabilityAnswer>;
  /** What the scan found that keeps an untrusted skill from being used. Absent: nothing is scanned. */
  heldBack?(skill: Skill): Promise<HeldSkill | undefined>;
  /** How many skills may run inside one another. */
  readonly maxDepth?: number;
}

export type CapabilityAnswer = Pick<RefusalCause, "message" | "hint" | "data"> | undefined;

export type Check = (subject: CheckSubject) => RefusalCause | undefined | Promise<RefusalCause | undefined>;
