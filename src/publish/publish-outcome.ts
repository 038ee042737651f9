/** Why nothing was published, as a value; and which skills were the reason. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { ErrorCode } from "../foundation/errors.ts";
import type { Finding } from "../scan/finding.ts";
import type { LeftOut } from "./left-out.ts";

export type PublishFaultCode = Extract<ErrorCode, `publish.${string}`>;

export interface RefusedSkill {
  readonly name: string;
  /** Its folder or flat file. */
  readonly path: string;
  /** One sentence. */
  readonly reason: string;
  /** What is wrong with its files. */
  readonly diagnostics: readonly Diagnostic[];
  /** What the scan found that must not be published. */
  readonly findings: readonly Finding[];
  readonly leftOut: readonly LeftOut[];
}

export interface PublishFault {
  readonly code: PublishFaultCode;
  /** What, and which value. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  /** The skills that must not be published; nothing is published without them. */
  readonly refused: readonly RefusedSkill[];
  /** About the paths that were asked for. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface PublishRefusal {
  readonly ok: false;
  readonly fault: PublishFault;
}

export function refusePublish(
  code: PublishFaultCode,
  message: string,
  hint: string,
  more: Partial<Pick<PublishFault, "refused" | "diagnostics">> = {},
): PublishRefusal {
  return { ok: false, fault: { code, message, hint, refused: [], diagnostics: [], ...more } };
}
