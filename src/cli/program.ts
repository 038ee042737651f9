/** Every command of the command line, once; the overview page, the routes and the seeds' `skill …` spellings read it. */
import { type Application, buildApplication, buildRouteMap, type RouteMap } from "@stricli/core";
import { capability } from "./commands/capability.ts";
import { chat } from "./commands/chat.ts";
import { compat } from "./commands/compat.ts";
import { config } from "./commands/config.ts";
import type { DeclaredCommand } from "./commands/define.ts";
import { doctor } from "./commands/doctor.ts";
import { disable, enable } from "./commands/enable.ts";
import { evaluate } from "./commands/eval.ts";
import { find, match } from "./commands/find.ts";
import { install, remove } from "./commands/install.ts";
import { list } from "./commands/list.ts";
import { mcp } from "./commands/mcp.ts";
import { newSkill } from "./commands/new.ts";
import { prompt } from "./commands/prompt.ts";
import { pack, publish } from "./commands/publish.ts";
import { read } from "./commands/read.ts";
import { remote } from "./commands/remote.ts";
import { run } from "./commands/run.ts";
import { runs } from "./commands/runs.ts";
import { scan } from "./commands/scan.ts";
import { script } from "./commands/script.ts";
import { setup } from "./commands/setup.ts";
import { show } from "./commands/show.ts";
import { test } from "./commands/test.ts";
import { manageActions, manageList, tour } from "./commands/tour.ts";
import { trust, untrust } from "./commands/trust.ts";
import { outdated, rollback, update, verify } from "./commands/update.ts";
import { validate } from "./commands/validate.ts";
import type { CliContext } from "./context.ts";

export const COMMANDS: readonly DeclaredCommand[] = [
  list,
  show,
  read,
  prompt,
  find,
  match,
  doctor,
  run,
  chat,
  script,
  runs,
  newSkill,
  validate,
  test,
  evaluate,
  compat,
  scan,
  install,
  update,
  outdated,
  remove,
  rollback,
  verify,
  enable,
  disable,
  trust,
  untrust,
  setup,
  config,
  capability,
  publish,
  pack,
  remote,
  mcp,
];

/** The parser checks every flag of every command it is given, so a known command is given alone. */
export function buildProgram(command: string | undefined): Application<CliContext> {
  const only = [...COMMANDS, tour].filter(({ name }) => name === command);
  const routes = only.length > 0 ? commandRoutes(only) : { ...commandRoutes(COMMANDS), skill: skillRoutes() };
  const root = buildRouteMap({
    routes,
    docs: { brief: "The runtime for Agent Skills", hideRoute: { skill: true } },
  });
  return buildApplication(root, {
    name: "metier",
    scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true },
    documentation: { disableAnsiColor: true, onlyRequiredInUsageLine: true },
  });
}

/** `metier skill <command>` and `metier skill manage enable|disable|update|remove|list`, as other systems have them. */
function skillRoutes(): RouteMap<CliContext> {
  return buildRouteMap({
    routes: { ...commandRoutes(COMMANDS), list: list.command, manage: manageRoutes() },
    defaultCommand: "list",
    docs: { brief: "The same commands, spelled `metier skill …`" },
  });
}

function manageRoutes(): RouteMap<CliContext> {
  return buildRouteMap({
    routes: {
      enable: enable.command,
      disable: disable.command,
      update: update.command,
      remove: remove.command,
      list: manageList.command,
      actions: manageActions.command,
    },
    defaultCommand: "actions",
    docs: { brief: "Enable, disable, update, remove or list installed skills", hideRoute: { actions: true } },
  });
}

function commandRoutes(commands: readonly DeclaredCommand[]): Record<string, DeclaredCommand["command"]> {
  return Object.fromEntries(commands.map(({ name, command }) => [name, command]));
}
