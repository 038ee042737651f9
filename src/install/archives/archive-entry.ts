/** What an archive holds, in whichever format: one entry at a time, not yet checked for where it would be written. */
export type ArchiveEntry =
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "link"; readonly path: string; readonly target: string }
  | {
      readonly kind: "file";
      readonly path: string;
      readonly size: number;
      readonly executable: boolean;
      /** Permission bits. */
      readonly mode: number;
      /** To be read before the next entry is asked for. */
      readonly content: AsyncIterable<Uint8Array>;
    };
