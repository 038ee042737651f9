/** `metier enable` and `metier disable`: one line in a config file, comments kept, and what it came to. */

import { addToConfigList, removeFromConfigList, setConfigValue } from "../../config/edit-config.ts";
import { enablePlugin } from "../../config/edit-plugins.ts";
import { findField } from "../../config/find-field.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import type { Skill } from "../../skill/skill.ts";
import type { CommonFlags } from "../common-flags.ts";
import { configFileFor } from "../config-file.ts";
import { type CliContext, endWith, out, outJson } from "../context.ts";
import { openMetier } from "../open-metier.ts";
import { safeLine } from "../output/style.ts";

interface EnableFlags {
  readonly project?: boolean;
}

export function runEnable(
  context: CliContext,
  flags: EnableFlags & CommonFlags,
  ...names: readonly string[]
): Promise<void> {
  return change(context, flags, names, true);
}

export function runDisable(
  context: CliContext,
  flags: EnableFlags & CommonFlags,
  ...names: readonly string[]
): Promise<void> {
  return change(context, flags, names, false);
}

async function change(
  context: CliContext,
  flags: EnableFlags & CommonFlags,
  names: readonly string[],
  enabled: boolean,
): Promise<void> {
  const metier = await openMetier(context, flags);
  const skills = names.map((name) => metier.require(name).name);
  const { file, target } = configFileFor(metier, flags.project ?? false);
  for (const name of skills) {
    const edit = { file, target, item: name };
    const path = ["skills", name, "enabled"];
    // `[skills.paths]` would be the list of paths: a skill of such a name is enabled and disabled by list alone.
    const isReserved = "fault" in findField(path);
    if (!isReserved) await setConfigValue({ file, target, path, value: enabled });
    else if (!enabled) await addToConfigList({ ...edit, path: ["skills", "disabled"] });
    if (target === "user") await enablePlugin(file, name, enabled);
    if (!enabled) continue;
    for (const list of ["disabled", "disabled-bundled"])
      await removeFromConfigList({ ...edit, path: ["skills", list] });
  }
  const after = await metier.reload();
  report(
    context,
    flags,
    skills.map((name) => after.require(name)),
    { enabled, file },
  );
}

function report(
  context: CliContext,
  { json }: CommonFlags,
  skills: readonly Skill[],
  { enabled, file }: { readonly enabled: boolean; readonly file: string },
): void {
  const done = (skill: Skill): boolean => (skill.status !== "disabled") === enabled;
  if (!skills.every(done)) endWith(context, EXIT.no);
  if (json) {
    outJson(context, {
      file,
      skills: skills.map(({ name, status, reason }) => ({ name, status, ...(reason && { reason }) })),
    });
    return;
  }
  for (const skill of skills) {
    const outcome = done(skill) ? `is ${skill.status}` : `is still ${skill.status}`;
    const reason = enabled && skill.reason ? `: ${skill.reason}` : "";
    out(context, safeLine(`${skill.name} ${outcome}${reason} (${file})`));
  }
}
