import { type DeclaredCommand, defineCommand, manyArguments } from "./define.ts";

export const trust: DeclaredCommand = defineCommand({
  name: "trust",
  group: "Managing",
  brief: "Trust a folder, or a skill exactly as it is now; `trust list` shows what you trust",
  description:
    "A folder (by default this project) stays trusted when its files change, its config file only as it is now.\nA skill is trusted byte for byte: a change ends it. Trust lets a skill pre-approve tools, receive secrets and more.",
  examples: [
    "metier trust",
    "metier trust ~/.claude/skills",
    "metier trust custom:deploy",
    "metier trust list",
  ],
  positional: manyArguments("target", "Skill name, scope:name or folder; `list` to list"),
  action: "trust",
});

export const untrust: DeclaredCommand = defineCommand({
  name: "untrust",
  group: "Managing",
  brief: "Take trust back",
  description: "Takes a folder, a skill's name or a digest; without one, this project's folder.",
  examples: ["metier untrust", "metier untrust deploy"],
  positional: manyArguments("target", "Skill name, folder or digest"),
  action: "untrust",
});
