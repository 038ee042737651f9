/**
 * What the commands do, in one table. It is loaded as one piece when a command runs: a piece each would cost every start
 * more files than it saves. Only what few commands need (YAML, TOML and glob libraries) is loaded apart.
 */
import { run as capability } from "./actions/capability.ts";
import { run as chat } from "./actions/chat.ts";
import { run as compat } from "./actions/compat.ts";
import { run as config } from "./actions/config.ts";
import { run as doctor } from "./actions/doctor.ts";
import { runDisable as disable, runEnable as enable } from "./actions/enable.ts";
import { run as evaluate } from "./actions/eval.ts";
import { runFind as find, runMatch as match } from "./actions/find.ts";
import { run as install } from "./actions/install.ts";
import { run as list, runInstalled as listInstalled } from "./actions/list.ts";
import { run as manage } from "./actions/manage.ts";
import { run as mcp } from "./actions/mcp.ts";
import { run as newSkill } from "./actions/new.ts";
import { run as outdated } from "./actions/outdated.ts";
import { run as prompt } from "./actions/prompt.ts";
import { runPack as pack, runPublish as publish } from "./actions/publish.ts";
import { run as read } from "./actions/read.ts";
import { run as remote } from "./actions/remote.ts";
import { run as remove } from "./actions/remove.ts";
import { run as rollback } from "./actions/rollback.ts";
import { run as runSkill } from "./actions/run.ts";
import { run as runs } from "./actions/runs.ts";
import { run as scan } from "./actions/scan.ts";
import { run as script } from "./actions/script.ts";
import { run as setup } from "./actions/setup.ts";
import { run as show } from "./actions/show.ts";
import { run as test } from "./actions/test.ts";
import { run as tour } from "./actions/tour.ts";
import { runTrust as trust, runUntrust as untrust } from "./actions/trust.ts";
import { run as update } from "./actions/update.ts";
import { run as validate } from "./actions/validate.ts";
import { run as verify } from "./actions/verify.ts";

export const ACTIONS = {
  capability,
  chat,
  compat,
  config,
  disable,
  doctor,
  enable,
  evaluate,
  find,
  install,
  list,
  listInstalled,
  manage,
  match,
  mcp,
  newSkill,
  outdated,
  pack,
  prompt,
  publish,
  read,
  remote,
  remove,
  rollback,
  run: runSkill,
  runs,
  scan,
  script,
  setup,
  show,
  test,
  tour,
  trust,
  untrust,
  update,
  validate,
  verify,
} as const;

export type ActionName = keyof typeof ACTIONS;
