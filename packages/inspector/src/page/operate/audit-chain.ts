/** Whether lines of the audit log form a chain: each names the digest of the line before it. Pure. */
import type { ApiAuditLine } from "@metier/service/api";

/** The digest that the first line names for the line before it. */
const NOTHING_BEFORE = "0".repeat(64);

export interface CheckedChain {
  /** The first and last line that were checked. */
  readonly from: number;
  readonly to: number;
  /** The line that doesn't continue the chain; absent if all do. */
  readonly brokenAt?: number | undefined;
}

/** `lines`: oldest first, without gaps. */
export function checkChain(lines: readonly ApiAuditLine[]): CheckedChain | undefined {
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const isBroken = (line: ApiAuditLine, index: number): boolean => {
    const before = lines[index - 1];
    if (before === undefined) return line.seq === 1 && line.previous !== NOTHING_BEFORE;
    return line.seq !== before.seq + 1 || line.previous !== before.digest;
  };
  return { from: first.seq, to: last.seq, brokenAt: lines.find(isBroken)?.seq };
}
