/**
 * The sides that are compared: the skill, and what it is held against. Without a skill, the same run machinery carries
 * out a skill that says nothing but "do the task", with the trust of the one under test, so that both see the same.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MetierError } from "../foundation/errors.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { MetierOptions } from "../runtime/metier-options.ts";
import type { Skill, Trust } from "../skill/skill.ts";

export type ArmName = "with_skill" | "without_skill" | "old_skill";

export interface Arm {
  readonly name: ArmName;
  /** The name of the skill that is run. */
  readonly skill: string;
  readonly directory: string;
  readonly trust: Trust;
  /** What its manifest asks for. */
  readonly model?: string;
}

/** Who opens a `Metier`: over the same home and config each time, with these options on top. */
export type OpenMetier = (options: MetierOptions) => Promise<Metier>;

const BARE_SKILL = "task";
const BARE_TEXT = `---
name: ${BARE_SKILL}
description: Carries out a task without a skill.
---

Carry out the task you are given, with the tools you have.
`;

export function skillArm(name: ArmName, { name: skill, directory, trust, manifest }: Skill): Arm {
  const { model } = manifest;
  return { name, skill, directory, trust: trust.level, ...(model !== undefined && { model }) };
}

/** Its folder is made below `folder`. */
export function bareArm(folder: string, trust: Trust): Arm {
  const directory = join(folder, BARE_SKILL);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "SKILL.md"), BARE_TEXT);
  return { name: "without_skill", skill: BARE_SKILL, directory, trust };
}

/** A `Metier` in which the arm's skill is the only one, and works in `workspace`. */
export async function openArm(open: OpenMetier, arm: Arm, workspace: string): Promise<Metier> {
  const metier = await open({
    cwd: workspace,
    bundled: false,
    index: false,
    config: {
      skills: {
        "auto-discover": false,
        paths: [arm.directory],
        "trusted-paths": arm.trust === "trusted" ? [arm.directory] : [],
        allow: [arm.skill],
      },
    },
  });
  const found = metier.get(arm.skill);
  if (found && realPathOr(found.directory) === realPathOr(arm.directory)) return metier;
  throw new MetierError(
    "skill.error",
    `The skill \`${arm.skill}\` cannot be used from \`${arm.directory}\`.`,
    {
      hint: "`metier doctor` with its folder says why.",
    },
  );
}
