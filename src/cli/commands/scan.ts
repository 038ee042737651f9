import { SCAN_SEVERITIES } from "../../config/scan-fields.ts";
import { type DeclaredCommand, defineCommand, manyArguments, switchFlag, textFlag } from "./define.ts";

export const scan: DeclaredCommand = defineCommand({
  name: "scan",
  group: "Authoring",
  brief: "Look for hidden text, stolen secrets and other dangers in skills",
  description:
    "Reads every file of a skill by fixed rules; nothing of it is executed, and nothing leaves this machine. A skill is a\npath or a name; without one, the skills you can use here are scanned. Exits 1 when there is a finding of at least\n`--fail-on`. A baseline holds findings you have looked at and accepted, for one skill each.",
  examples: [
    "metier scan my-skill",
    "metier scan skills/ --fail-on medium",
    "metier scan skills/ --baseline scan-baseline.json",
    "metier scan --format sarif skills/ > scan.sarif",
    "metier scan --rules",
  ],
  flags: {
    format: {
      kind: "enum",
      values: ["text", "json", "sarif"],
      default: "text",
      brief: "How to print the result",
    },
    failOn: {
      kind: "enum",
      values: [...SCAN_SEVERITIES, "never"],
      default: "high",
      brief: "The severity from which on the answer is no",
    },
    baseline: textFlag(
      "file",
      "Leave out the findings that this file accepts; default: as `scan.baseline` says",
    ),
    writeBaseline: textFlag("file", "Accept all that is found now, and write it to this file"),
    rules: switchFlag("List all rules with what they mean"),
  },
  positional: manyArguments("skill", "Skill folder, skill file, folder of skills, or name of a skill"),
  action: "scan",
});
