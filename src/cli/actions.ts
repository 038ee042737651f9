/**
 * What the commands do, in one table. It is loaded as one piece when a command runs: a piece each would cost every start
 * more files than it saves. Only what few commands need (YAML, TOML and glob libraries) is loaded apart.
 */
import { run as chat } from "./actions/chat.ts";
import { run as config } from "./actions/config.ts";
import { run as doctor } from "./actions/doctor.ts";
import { runDisable as disable, runEnable as enable } from "./actions/enable.ts";
import { runFind as find, runMatch as match } from "./actions/find.ts";
import { run as list, runInstalled as listInstalled } from "./actions/list.ts";
import { run as manage } from "./actions/manage.ts";
import { run as newSkill } from "./actions/new.ts";
import { run as prompt } from "./actions/prompt.ts";
import { run as read } from "./actions/read.ts";
import { run as runSkill } from "./actions/run.ts";
import { run as runs } from "./actions/runs.ts";
import { run as script } from "./actions/script.ts";
import { run as setup } from "./actions/setup.ts";
import { run as show } from "./actions/show.ts";
import { run as tour } from "./actions/tour.ts";
import { runTrust as trust, runUntrust as untrust } from "./actions/trust.ts";
import { run as validate } from "./actions/validate.ts";

export const ACTIONS = {
  chat,
  config,
  disable,
  doctor,
  enable,
  find,
  list,
  listInstalled,
  manage,
  match,
  newSkill,
  prompt,
  read,
  run: runSkill,
  runs,
  script,
  setup,
  show,
  tour,
  trust,
  untrust,
  validate,
} as const;

export type ActionName = keyof typeof ACTIONS;
