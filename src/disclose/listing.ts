/** The words of tier 1: what a listing holds, how it may be written, and what a host can ask for. */

export type ListingFormatName = "xml" | "markdown" | "names" | "json";

/** `file`: the skill file; `directory`: its folder; `mounted`: below `mountPath`, as the model's workspace shows it. */
export type LocationStyle = "file" | "directory" | "mounted" | "none";

/** How the model gets at a skill: by the tool `use_skill`, by reading its file, or as the host says itself. */
export type Activation = "tool" | "file" | "none";

/** `short`: cut to `SHORT_DESCRIPTION` characters. */
export type Descriptions = "full" | "short" | "none";

export interface ListingOptions {
  /** Default: `xml`. */
  readonly format?: ListingFormatName;
  /** Default: `mounted` when there is a `mountPath`, otherwise `file` for `xml` and `json` and `none` for `markdown`. */
  readonly location?: LocationStyle;
  /** Where skills are mounted in the model's workspace. Default, for `mounted`: `skills`. */
  readonly mountPath?: string;
  /** Default: `tool`. */
  readonly activation?: Activation;
  /** Default: `full`. `names` has none. */
  readonly descriptions?: Descriptions;
}

/** A skill as a listing shows it. The text is clean, but not yet escaped. */
export interface ListingEntry {
  readonly name: string;
  readonly description?: string;
  readonly location?: string;
  /** Whose skill it is, where it is not of this machine. */
  readonly origin?: string;
}

export interface Listing {
  readonly entries: readonly ListingEntry[];
  /** Skills for which there is room for the name alone. */
  readonly names: readonly string[];
  /** How to activate a skill; `""` for nothing. */
  readonly guidance: string;
  /** How many skills are not told in full and how to find them; `""` when all are. */
  readonly more: string;
}

/** How a listing is written. */
export interface ListingFormat {
  /** Whether line breaks in a description are kept. */
  readonly multiline: boolean;
  render(listing: Listing): string;
  /** What one entry, or one name, adds to the text: for those who count before they render. */
  entryPiece(entry: ListingEntry): string;
  namePiece(name: string): string;
  /** A description's words as they stand in a piece. */
  escape(text: string): string;
}
