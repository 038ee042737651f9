/**
 * What Metier throws: faults of the host and of the programmer. Wrong skills are diagnostics and refused requests are
 * values; the facades turn those into these classes if a caller expects an exception.
 */
import type { Diagnostic } from "./diagnostic.ts";

/** The exit codes of the command line. One table; nothing else picks a number. */
export const EXIT = {
  done: 0,
  /** The answer is no: invalid, different, blocked, failed or not found. */
  no: 1,
  /** Usage or config. */
  usage: 2,
  refused: 3,
  limited: 4,
  failed: 5,
  /** A prerequisite is missing: model, sandbox, git. */
  prerequisite: 6,
  cancelled: 130,
} as const;

/** A process exit code from the `EXIT` table: 0 to 6, or 130 when the user cancelled. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Every error code and the exit code it leads to. */
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
  "option.unknown": EXIT.usage,
  "config.invalid": EXIT.usage,
  "model.unavailable": EXIT.prerequisite,
  "model.unknown": EXIT.usage,
  "model.no-price": EXIT.usage,
  "runs.day-budget": EXIT.limited,
  "model.unscripted": EXIT.failed,
  "model.cut": EXIT.failed,
  "replay.diverged": EXIT.failed,
  "run.not_found": EXIT.no,
  "durable.unavailable": EXIT.prerequisite,
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
  "package.incomplete": EXIT.prerequisite,
  "publish.usage": EXIT.usage,
  "publish.no_skill": EXIT.no,
  "publish.refused": EXIT.no,
  "publish.taken": EXIT.no,
  cancelled: EXIT.cancelled,
  "io.failed": EXIT.failed,
  "internal.fault": EXIT.failed,
} as const satisfies Record<string, ExitCode>;

/** The stable code of a thrown `MetierError`, such as `skill.not_found` or `config.invalid`. */
export type ErrorCode = keyof typeof ERROR_CODES;

/** The plain form of an error, for `--json` and for other processes. */
export interface ErrorRecord {
  /** The error's stable code; compare this, not the message. */
  readonly code: ErrorCode;
  /** What went wrong, in one sentence for people. */
  readonly message: string;
  /** What to do about it; absent if there is nothing to suggest. */
  readonly hint?: string;
  /** The other fields of the error, such as `skillName` or `path`; absent if it has none. */
  readonly data?: Readonly<Record<string, unknown>>;
}

interface ErrorDetails {
  /** What the reader can do about it. */
  readonly hint?: string | undefined;
  /** The original error. */
  readonly cause?: unknown;
}

/** Base class of every error that Metier throws; check `code` to tell errors apart. */
export class MetierError extends Error {
  /** The stable code of this error. */
  readonly code: ErrorCode;
  /** What to do about it; absent if there is nothing to suggest. */
  readonly hint?: string;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.code = code;
    if (details.hint !== undefined) this.hint = details.hint;
  }

  /** The exit code of a command that ends with this error. */
  get exitCode(): ExitCode {
    return ERROR_CODES[this.code];
  }

  /** Returns the error as plain data, without its stack and cause; `JSON.stringify` calls it. */
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

/** Wrong usage: an unknown flag or option, a missing argument, or a path that doesn't exist. */
export class UsageError extends MetierError {
  constructor(
    message: string,
    details?: ErrorDetails,
    code: "usage.invalid" | "option.unknown" = "usage.invalid",
  ) {
    super(code, message, details);
  }
}

/** The user cancelled a question or a long-running command. */
export class CancelledError extends MetierError {
  constructor(message = "Cancelled; nothing was recorded.") {
    super("cancelled", message);
  }
}

/** A config file the caller named can't be used, or can't be edited. */
export class ConfigError extends MetierError {
  /** The config file; `undefined` if the fault isn't in one file. */
  readonly path: string | undefined;
  constructor(message: string, path?: string, details?: ErrorDetails) {
    super("config.invalid", message, details);
    this.path = path;
  }
}

/** Base class of all errors about skills. */
export class SkillError extends MetierError {
  constructor(message: string, code: ErrorCode = "skill.error", details?: ErrorDetails) {
    super(code, message, details);
  }
}

/** Thrown when a skill requested by name or path does not exist. */
export class SkillNotFoundError extends SkillError {
  /** The name of the missing skill. */
  readonly skillName: string;
  /** The requested path; `undefined` if the skill was requested by name. */
  readonly path: string | undefined;
  constructor(skillName: string, path?: string, details?: ErrorDetails) {
    super(`Skill \`${skillName}\` was not found${path ? ` at ${path}` : ""}.`, "skill.not_found", details);
    this.skillName = skillName;
    this.path = path;
  }
}

/** Thrown when a skill file's frontmatter can't be parsed, even after repairs. */
export class SkillParseError extends SkillError {
  /** The skill's name, if known. */
  readonly skillName: string;
  /** The file that can't be parsed. */
  readonly path: string;
  /** What is wrong in the file. */
  readonly detail: string;
  constructor(skillName: string, path: string, detail: string, details?: ErrorDetails) {
    super(`Can't parse skill \`${skillName}\` at ${path}: ${detail}`, "skill.parse", details);
    this.skillName = skillName;
    this.path = path;
    this.detail = detail;
  }
}

/** Thrown when a skill can be parsed but breaks a rule, such as a missing description. */
export class SkillValidationError extends SkillError {
  /** The skill's name, if known. */
  readonly skillName: string;
  /** One sentence for each broken rule. */
  readonly errors: readonly string[];
  /** The skill file; `undefined` if the skill was given as an object. */
  readonly path: string | undefined;
  constructor(skillName: string, errors: readonly string[], path?: string, details?: ErrorDetails) {
    super(`Skill \`${skillName}\` is invalid: ${errors.join("; ")}`, "skill.validation", details);
    this.skillName = skillName;
    this.errors = errors;
    this.path = path;
  }
}

/** Thrown when a skill's file can't be read, or has changed since it was found; `cause` has the reason. */
export class SkillLoadError extends SkillError {
  /** The name of the skill. */
  readonly skillName: string;
  /** The file that can't be read. */
  readonly path: string;
  constructor(skillName: string, path: string, cause: unknown, details?: ErrorDetails) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`Can't read skill \`${skillName}\` at ${path}: ${reason}`, "skill.load", { ...details, cause });
    this.skillName = skillName;
    this.path = path;
  }
}

/** Thrown when the files that an MCP server sent for a skill are refused or missing, with a reason for each file. */
export class RemoteSkillError extends SkillLoadError {
  /** Why each file was refused; empty if the server changed the skill meanwhile. */
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

/** Thrown when two skills in one scope have the same name, or a skill is registered twice. */
export class SkillConflictError extends SkillError {
  /** The name they share. */
  readonly skillName: string;
  /** Where each of them is; `given as an object` for one without a file. */
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

/** Who asked for a skill: a `model` by a tool call, a `user` by name, or the program's own `code`. */
export type InvocationSource = "model" | "user" | "code";

/** Thrown when a skill exists but may not be used here, or its run did not complete. */
export class SkillInvocationError extends SkillError {
  /** The name of the skill. */
  readonly skillName: string;
  /** Who asked for it. */
  readonly source: InvocationSource;
  /** Why it was refused, in one sentence for people. */
  readonly reason: string;
  constructor(skillName: string, source: InvocationSource, reason: string, details?: ErrorDetails) {
    super(
      `Skill \`${skillName}\` can't be invoked from \`${source}\`: ${reason}`,
      "skill.invocation",
      details,
    );
    this.skillName = skillName;
    this.source = source;
    this.reason = reason;
  }
}

/** Why a file in a skill's folder can't be read. */
export type ResourceFault = "outside" | "missing" | "not-a-file" | "too-large" | "invalid" | "denied";

/** Thrown when a file in a skill's folder can't be read through the skill. */
export class SkillResourceError extends SkillError {
  /** The name of the skill. */
  readonly skillName: string;
  /** The requested path. */
  readonly path: string;
  /** Why it can't be read, as a code to compare. */
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

/** Why skills were not mounted; `taken` means that something with that name already exists. */
export type MountFault = "outside" | "missing" | "too-large" | "invalid" | "duplicate" | "taken" | "failed";

/** Thrown when skills can't be copied or linked into a workspace. */
export class SkillMountError extends SkillError {
  /** The folder to create. */
  readonly path: string;
  /** Why they were not mounted, as a code to compare. */
  readonly reason: MountFault;
  constructor(path: string, reason: MountFault, message: string, details?: ErrorDetails) {
    super(message, "skill.mount", details);
    this.path = path;
    this.reason = reason;
  }
}
