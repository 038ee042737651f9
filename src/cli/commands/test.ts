import { type DeclaredCommand, defineCommand, manyArguments, switchFlag, textFlag } from "./define.ts";

export const test: DeclaredCommand = defineCommand({
  name: "test",
  group: "Authoring",
  brief: "Run the tests beside skills, without a model",
  description:
    "Carries out the cases in `tests/*.test.yaml` beside a skill. A case says what is asked (`arguments`, `input`, …) and what to\n`expect`: the text, a refusal, or, with a `script` in place of a model, the tools that are called and how the run ends.\nNo model is asked, no network is used, and your config, values and other skills are out of reach. A skill is a path or a\nname; without one, the skills below the working directory are tested. What a skill is not trusted with, its tests are not\neither. Exits 1 when a case fails, or when there is none.",
  examples: [
    "metier test my-skill",
    "metier test skills/ --filter arguments",
    "metier test skills/ --format junit > report.xml",
  ],
  flags: {
    filter: textFlag("text", "Only cases with this text in the name of the case or of its skill"),
    approve: switchFlag("Answer yes to every question about tools; never beats a deny, never grants trust"),
    format: {
      kind: "enum",
      values: ["text", "json", "junit"],
      default: "text",
      brief: "How to print the result",
    },
  },
  positional: manyArguments("skill", "Skill folder, skill file, folder of skills, or name of a skill"),
  action: "test",
});
