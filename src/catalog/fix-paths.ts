/** `validate --fix` over files, folders and trees: writes the repairs that are safe, file by file. */
import { readBounded } from "../host/read-bounded.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import { scanRoot } from "../sources/scan-root.ts";
import { fixSkill } from "../validate/fix-skill.ts";
import { MAX_SKILL_BYTES } from "./read-skill.ts";

export interface FixedFile {
  readonly path: string;
  /** What was repaired. */
  readonly repairs: readonly string[];
}
