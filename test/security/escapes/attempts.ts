/** All attempts, in the order in which a report shows them. */
import type { Attempt } from "./attempt.ts";
import { kernel } from "./kernel.ts";
import { network } from "./network.ts";
import { privileges } from "./privileges.ts";
import { processes } from "./processes.ts";
import { reading } from "./reading.ts";
import { resources } from "./resources.ts";
import { terminal } from "./terminal.ts";
import { writing } from "./writing.ts";

export const attempts: readonly Attempt[] = [
  ...reading,
  ...writing,
  ...network,
  ...privileges,
  ...kernel,
  ...terminal,
  ...processes,
  ...resources,
];
