/** Why nothing goes out, as a value. */

export type EgressReason =
  /** No URL, or not one that can be fetched. */
  | "invalid"
  | "credentials"
  /** A name of the local network or this machine. */
  | "local-name"
  | "not-granted"
  /** Plain `http:` where only `https:` is good enough. */
  | "insecure"
  /** The name leads to an address that is not public. */
  | "private-address"
  | "unresolved"
  | "redirects"
  | "media-type"
  | "too-large"
  | "timeout"
  | "cancelled"
  | "unreachable";

export interface EgressFault {
  readonly ok: false;
  readonly reason: EgressReason;
  /** What and which value, in whole sentences. */
  readonly message: string;
}

export function refuseEgress(reason: EgressReason, message: string): EgressFault {
  return { ok: false, reason, message };
}
