/**
 * What is thrown: faults of the host and of the programmer. Wrong skills are diagnostics and refused
 * requests are values; the facades turn those into these classes where a caller expects an exception.
 */
import type { Diagnostic } from "./diagnostic.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";

/** Every error code and the exit code it ends a command with. */
export const ERROR_CODES = {
  "skill.error": EXIT.failed,
  "skill.not_found": EXIT.no,
  "skill.parse": EXIT.no,
  "skill.validation": EXIT.no,
  "skill.load": EXIT.failed,
  "skill.conflict": EXIT.no,
  "skill.invocation": EXIT.refused,
  "skill.resource": EXIT.no,
  "skill.mount": EXIT.failed,
  "usage.invalid": EXIT.usage,
  "config.invalid": EXIT.usage,
  "model.unavailable": EXIT.prerequisite,
  "model.unscripted": EXIT.failed,
  "model.cut": EXIT.failed,
  "replay.diverged": EXIT.failed,
  "run.not_found": EXIT.no,
  "setup.refused": EXIT.refused,
  "setup.unavailable": EXIT.prerequisite,
  "setup.failed": EXIT.failed,
  "source.invalid": EXIT.usage,
  "source.not_found": EXIT.no,
  "source.ref_not_found": EXIT.no,
  "source.refused": EXIT.refused,
  "source.unsafe": EXIT.refused,
  "source.limited": EXIT.limited,
  "source.unauthorized": EXIT.failed,
  "source.unreachable": EXIT.failed,
  "source.damaged": EXIT.failed,
  "source.failed": EXIT.failed,
  "git.missing": EXIT.prerequisite,
  "install.usage": EXIT.usage,
  "install.choice": EXIT.usage,
  "install.lock": EXIT.usage,
  "install.no_skill": EXIT.no,
  "install.invalid": EXIT.no,
  "install.blocked": EXIT.no,
  "install.conflict": EXIT.no,
  "install.declined": EXIT.no,
  "install.differs": EXIT.no,
  "install.not_installed": EXIT.no,
  "install.no_previous": EXIT.no,
  "install.unreviewed": EXIT.refused,
  "install.changed": EXIT.failed,
  "capability.state": EXIT.failed,
  "publish.usage": EXIT.usage,
  "publish.no_skill": EXIT.no,
  "publish.refused": EXIT.no,
  "publish.taken": EXIT.no,
  cancelled: EXIT.cancelled,
  "io.failed": EXIT.failed,
  "internal.fault": EXIT.failed,
} as const satisfies Record<string, ExitCode>;

export type ErrorCode = keyof typeof ERROR_CODES;

/** The plain form of an error: what `--json` prints and what crosses a process border. */
export interface ErrorRecord {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface ErrorDetails {
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

export class MetierError extends Error {
  readonly code: ErrorCode;
  readonly hint?: string;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    if (details.hint !== undefined) this.hint = details.hint;
  }

  get exitCode(): ExitCode {
    return ERROR_CODES[this.code];
  }

  toJSON(): ErrorRecord {
    const { code, message, hint } = this;
    const known = new Set(["name", "code", "message", "hint", "stack", "cause"]);
    const data = Object.fromEntries(
      Object.entries(this)
        .filter(([key]) => !known.has(key))
        .map(([key, value]) => [key, value instanceof Error ? value.message : value]),
    );
    return { code, message, ...(hint && { hint }), ...(Object.keys(data).length > 0 && { data }) };
  }
}

/** The command line was used wrongly: an unknown flag, a missing argument, a path that is not there. */
export class UsageError extends MetierError {
  constructor(message: string, details?: ErrorDetails) {
    super("usage.invalid", message, details);
  }
}

/** The user ended a question or a long-running command. */
export class CancelledError extends MetierError {
  constructor(message = "Cancelled; nothing was recorded.") {
    super("cancelled", message);
  }
}

/** A config file the caller named cannot be used, or an edit to one cannot be made. */
export class ConfigError extends MetierError {
  readonly path: string | undefined;
  constructor(message: string, path?: string, details?: ErrorDetails) {
    super("config.invalid", message, details);
    this.path = path;
  }
}

/** Base of all errors about skills. */
export class SkillError extends MetierError {
  constructor(message: string, code: ErrorCode = "skill.error", details?: ErrorDetails) {
    super(code, message, details);
  }
}

export class SkillNotFoundError extends SkillError {
  readonly skillName: string;
  readonly path: string | undefined;
  constructor(skillName: string, path?: string, details?: ErrorDetails) {
    super(`Skill \`${skillName}\` was not found${path ? ` at ${path}` : ""}.`, "skill.not_found", details);
    this.skillName = skillName;
    this.path = path;
  }
}

export class SkillParseError extends SkillError {
  readonly skillName: string;
  readonly path: string;
  readonly detail: string;
  constructor(skillName: string, path: string, detail: string, details?: ErrorDetails) {
    super(`Skill \`${skillName}\` at ${path} cannot be parsed: ${detail}`, "skill.parse", details);
    this.skillName = skillName;
    this.path = path;
    this.detail = detail;
  }
}

export class SkillValidationError extends SkillError {
  readonly skillName: string;
  readonly errors: readonly string[];
  readonly path: string | undefined;
  constructor(skillName: string, errors: readonly string[], path?: string, details?: ErrorDetails) {
    super(`Skill \`${skillName}\` is not valid: ${errors.join("; ")}`, "skill.validation", details);
    this.skillName = skillName;
    this.errors = errors;
    this.path = path;
  }
}

export class SkillLoadError extends SkillError {
  readonly skillName: string;
  readonly path: string;
  constructor(skillName: string, path: string, cause: unknown, details?: ErrorDetails) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Skill \`${skillName}\` at ${path} cannot be read: ${reason}`, "skill.load", { ...details, cause });
    this.skillName = skillName;
    this.path = path;
  }
}

/** What an MCP server sent of a skill is refused, or nothing came: file by file, why. */
export class RemoteSkillError extends SkillLoadError {
  readonly diagnostics: readonly Diagnostic[];
  constructor(
    skillName: string,
    path: string,
    cause: string,
    diagnostics: readonly Diagnostic[],
    details?: ErrorDetails,
  ) {
    super(skillName, path, cause, details);
    this.diagnostics = diagnostics;
  }
}

export class SkillConflictError extends SkillError {
  readonly skillName: string;
  readonly paths: readonly string[];
  constructor(skillName: string, paths: readonly string[], details?: ErrorDetails) {
    super(
      `Skill \`${skillName}\` exists more than once in one scope: ${paths.join(", ")}.`,
      "skill.conflict",
      details,
    );
    this.skillName = skillName;
    this.paths = paths;
  }
}

export type InvocationSource = "model" | "user" | "code";

export class SkillInvocationError extends SkillError {
  readonly skillName: string;
  readonly source: InvocationSource;
  readonly reason: string;
  constructor(skillName: string, source: InvocationSource, reason: string, details?: ErrorDetails) {
    super(
      `Skill \`${skillName}\` cannot be invoked from \`${source}\`: ${reason}`,
      "skill.invocation",
      details,
    );
    this.skillName = skillName;
    this.source = source;
    this.reason = reason;
  }
}

/** Why a file below a skill's folder is not given out. */
export type ResourceFault = "outside" | "missing" | "not-a-file" | "too-large" | "invalid" | "denied";

export class SkillResourceError extends SkillError {
  readonly skillName: string;
  /** As it was asked for. */
  readonly path: string;
  readonly reason: ResourceFault;
  constructor(
    skillName: string,
    path: string,
    reason: ResourceFault,
    message: string,
    details?: ErrorDetails,
  ) {
    super(`Skill \`${skillName}\`: ${message}`, "skill.resource", details);
    this.skillName = skillName;
    this.path = path;
    this.reason = reason;
  }
}

/** Why skills were not mounted; `taken`: something of that name is there already. */
export type MountFault = "outside" | "missing" | "too-large" | "invalid" | "duplicate" | "taken" | "failed";

export class SkillMountError extends SkillError {
  /** The folder that was to be made. */
  readonly path: string;
  readonly reason: MountFault;
  constructor(path: string, reason: MountFault, message: string, details?: ErrorDetails) {
    super(message, "skill.mount", details);
    this.path = path;
    this.reason = reason;
  }
}
