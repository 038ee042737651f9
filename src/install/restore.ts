/**
 * `install` without a source: what the locks record is put back, byte for byte, and no lock is changed. What is there and
 * right costs no network; what is fetched must turn out to be what the lock says. `frozen` repairs nothing that differs.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import { rememberLock } from "../lock/known-locks.ts";
import { calledAs, type LockEntry } from "../lock/lock-entry.ts";
import { type LockFile, lockedFolder, projectLockFile, storeFolder, userLockFile } from "../lock/lock-places.ts";
import { readLock } from "../lock/lock-store.ts";
import { findDifference, placeInStore } from "../lock/store.ts";
import { scanSkill } from "../scan/scan-skill.ts";
import { fetchSource } from "./fetch-source.ts";
import { makeCopy, tidyStore } from "./finish-install.ts";
import { cancelledFault, type InstallFault } from "./install-fault.ts";
import type {
  InstalledSkill,
  InstallOutcome,
  InstallParts,
  InstallRequest,
  SkillFinding,
  SkippedSkill,
} from "./install-request.ts";
import { lockFault } from "./lock-fault.ts";
import { type CopyState, stateOfCopy } from "./project-copy.ts";
import { openQuarantine, type Quarantine } from "./quarantine.ts";
import { pinAddress } from "./same-origin.ts";
import { blockingFindings } from "./scan-policy.ts";
import { parseSourceAddress } from "./source-address.ts";
import { SOURCE_LIMITS } from "./source-limits.ts";
