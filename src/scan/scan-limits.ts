/** How much of a skill is looked at. What is left out is reported, never passed over in silence. */
export interface ScanLimits {
  /** Files and folders that are listed. */
  readonly entries: number;
  /** Of one file that is read as text. */
  readonly fileBytes: number;
  /** Of all files together. */
  readonly totalBytes: number;
  /** Of one piece of code that is parsed; longer ones are only read as text. */
  readonly codeCharacters: number;
  /** Of the parsers, for all code of a skill together: real code needs one for two characters or more. */
  readonly steps: number;
  /** Of a syntax tree; what lies deeper is not followed. */
  readonly depth: number;
  /** Of the syntax tree of one piece of code. */
  readonly nodes: number;
  /** Pieces of code in one file: blocks, commands, code within code. */
  readonly pieces: number;
  /** That one rule reports for one file. */
  readonly hitsPerFile: number;
}

export const SCAN_LIMITS: ScanLimits = {
  entries: 20_000,
  fileBytes: 1024 * 1024,
  totalBytes: 64 * 1024 * 1024,
  codeCharacters: 256 * 1024,
  steps: 1_500_000,
  depth: 200,
  nodes: 200_000,
  pieces: 500,
  hitsPerFile: 20,
};

/** Something that was not looked at, or not wholly. */
export interface SkippedPart {
  readonly path: string;
  /** One sentence. */
  readonly reason: string;
}
