/**
 * From an address to a folder of plain files in the quarantine. Each kind of source has its own way, all of them keep to
 * this contract: nothing that was fetched is executed, nothing outside `into` is written, faults are values.
 */
import type { AddressBook } from "../egress/resolve-public.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Environment } from "../host/find-command.ts";
import type { FaultOutcome } from "./install-fault.ts";
import type { SourceAddress } from "./source-address.ts";
import type { SourceLimits } from "./source-limits.ts";

export interface FetchContext {
  /** An empty folder in the quarantine. */
  readonly into: string;
  readonly limits: SourceLimits;
  readonly signal?: AbortSignal;
  readonly environment: Environment;
  /** For packages, in place of the one that npm is set to. */
  readonly registry?: string;
  /** For tests, which talk to loopback. */
  readonly addresses?: AddressBook;
  /** A local folder is used where it is, instead of a copy. */
  readonly link?: boolean;
  /** Metier's own folder, in which no source lies. */
  readonly store?: string;
  /** Names of skills: a source whose skills are fetched one by one fetches only these. Absent: all. */
  readonly wanted?: readonly string[];
  onProgress?(step: FetchProgress): void;
}

export interface FetchProgress {
  readonly what: string;
  readonly done?: number;
  readonly total?: number;
}

export interface FetchedSource {
  /** The tree: plain files, without `.git`. */
  readonly folder: string;
  /** Commit id, version + integrity, or sha256 of the download; for a folder its real path. */
  readonly resolved: string;
  /** As asked. */
  readonly ref?: string;
  /** Of the address, as the lock keeps it. */
  readonly canonical: string;
  /** Where the source or its address says that skills are, below `folder`: a skill, or a folder of skills. */
  readonly paths?: readonly string[];
  /** The folder is the user's own, used where it is. */
  readonly linked?: true;
  /** What was left out, or is worth knowing; no errors. */
  readonly diagnostics: readonly Diagnostic[];
}

export type FetchOutcome = { readonly ok: true; readonly source: FetchedSource } | FaultOutcome;

/** Each kind is loaded when it is wanted: most installations have one. */
export async function fetchSource(address: SourceAddress, context: FetchContext): Promise<FetchOutcome> {
  switch (address.kind) {
    case "git":
      return (await import("./git/fetch-git.ts")).fetchGit(address, context);
    case "folder":
      return (await import("./local/fetch-folder.ts")).fetchFolder(address, context);
    case "archive":
    case "file":
      return (await import("./archives/fetch-download.ts")).fetchDownload(address, context);
    case "npm":
      return (await import("./npm/fetch-npm.ts")).fetchNpm(address, context);
    case "well-known":
      return (await import("./well-known/fetch-well-known.ts")).fetchWellKnown(address, context);
  }
}
