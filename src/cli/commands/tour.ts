import { type DeclaredCommand, defineCommand } from "./define.ts";

/** What `npm start` shows; not in the overview, since it is about this repository. */
export const tour: DeclaredCommand = defineCommand({
  name: "tour",
  group: "Reading",
  brief: "A short guided tour on bundled skills",
  description:
    "Finds, explains and checks skills in a temporary folder. Needs no terminal, model or network.",
  examples: ["metier tour"],
  action: "tour",
});

/** `metier skill manage list`: the installed skills. */
export const manageList: DeclaredCommand = defineCommand({
  name: "list",
  group: "Managing",
  brief: "List installed skills",
  description: "The skills of scope `installed`.",
  examples: ["metier skill manage list"],
  action: "listInstalled",
});

/** `metier skill manage` alone: what it can do. */
export const manageActions: DeclaredCommand = defineCommand({
  name: "actions",
  group: "Managing",
  brief: "Show what `metier skill manage` can do",
  description: "Lists the actions.",
  examples: ["metier skill manage"],
  action: "manage",
});
