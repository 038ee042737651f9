/** An assertion that was decided, with what it was decided by. */

export interface GradedAssertion {
  readonly text: string;
  readonly passed: boolean;
  /** A quotation, a value, or why it could not be decided. */
  readonly evidence: string;
  /** It could not be decided: by a fault of the grading, not of the skill. */
  readonly isFault?: boolean;
}

const MOST_EVIDENCE = 2000;

/** Evidence is kept short: the outputs themselves are kept, too. */
export function cutEvidence(text: string): string {
  const trimmed = text.trim();
  return trimmed.length > MOST_EVIDENCE ? `${trimmed.slice(0, MOST_EVIDENCE)}…` : trimmed;
}
