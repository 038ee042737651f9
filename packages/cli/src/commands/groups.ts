/** All commands by group, found by name or alias. */
import { nearestNames } from "@metier/base/text";
import { AUTHORING } from "./authoring.ts";
import { CONNECTING } from "./connecting.ts";
import type { DeclaredCommand } from "./define.ts";
import { DOING } from "./doing.ts";
import { disable, enable, MANAGING, manageActions, manageList, remove, update } from "./managing.ts";
import { READING, tour } from "./reading.ts";

/** Heading of the overview → its commands. */
export const GROUPS: Readonly<Record<string, readonly DeclaredCommand[]>> = {
  Reading: READING,
  Doing: DOING,
  Authoring: AUTHORING,
  Managing: MANAGING,
  Connecting: CONNECTING,
};

export const COMMANDS: readonly DeclaredCommand[] = Object.values(GROUPS).flat();

/** The actions of `metier skill manage`. */
export const MANAGE_COMMANDS: readonly DeclaredCommand[] = [
  enable,
  disable,
  update,
  remove,
  manageList,
  manageActions,
];

/** Finds a command by name or alias, including commands that the overview leaves out. */
export function findCommand(name: string): DeclaredCommand | undefined {
  return [...COMMANDS, tour].find((command) => command.name === name || command.also.includes(name));
}

/** Words that are far from the right command in spelling, but close in meaning. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  ask: ["chat"],
  auth: ["capability"],
  bundle: ["pack"],
  call: ["run"],
  cat: ["read"],
  check: ["validate", "doctor"],
  create: ["new"],
  dashboard: ["inspect"],
  del: ["remove"],
  delete: ["remove"],
  evaluate: ["eval"],
  exec: ["run"],
  get: ["install", "show"],
  history: ["runs"],
  i: ["install"],
  in: ["install"],
  lint: ["validate"],
  log: ["runs"],
  login: ["capability"],
  logs: ["runs"],
  open: ["show"],
  ps: ["runs"],
  rm: ["remove"],
  server: ["mcp"],
  settings: ["config"],
  start: ["run", "chat"],
  status: ["doctor", "list"],
  ui: ["inspect"],
  un: ["remove"],
  up: ["update"],
  use: ["run"],
  view: ["show"],
};

/** The commands a mistyped word may mean, likeliest first. */
export function suggestCommands(word: string): readonly string[] {
  const known = (Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined) ?? [];
  if (known.length > 0) return known;
  const meant = [
    ...COMMANDS.flatMap(({ name, also }) => [name, ...also]),
    ...Object.keys(SYNONYMS).filter((synonym) => synonym.length > 4),
  ];
  // Only the nearest: for `unistall` -> `uninstall`, its opposite would come second.
  return nearestNames(word, meant, 1).map((name) => SYNONYMS[name]?.[0] ?? name);
}
