/** The keys of `[scan]`: what is done about findings in skills. Part of the table in `config-fields.ts`. */
import type { ConfigField } from "./config-fields.ts";
import { COMMON_FOLDERS, COMMON_NAMES, stricterOf } from "./tightening.ts";
import { oneOf, PATHS, TEXTS } from "./value-types.ts";

/** How bad a finding is, mildest first. `block`: nothing harmless looks like this. */
export const SCAN_SEVERITIES = ["info", "low", "medium", "high", "block"] as const;
export type ScanSeverity = (typeof SCAN_SEVERITIES)[number];

export const SCAN_FIELDS: readonly ConfigField[] = [
  {
    path: "scan.block",
    type: oneOf(...SCAN_SEVERITIES),
    description:
      "From which severity of finding on an untrusted skill is blocked: neither installed nor used.",
    default: "block",
    project: "tighten",
    tightening: stricterOf(...SCAN_SEVERITIES.toReversed()),
  },
  {
    path: "scan.ignore",
    type: TEXTS,
    description: "Rules of the scan that are not applied, by id.",
    default: [],
    project: "ignore",
    tightening: COMMON_NAMES,
  },
  {
    path: "scan.baseline",
    type: PATHS,
    description:
      "Files of findings that were looked at and accepted, as `metier scan --write-baseline` makes them.",
    default: [],
    project: "ignore",
    tightening: COMMON_FOLDERS,
  },
];
