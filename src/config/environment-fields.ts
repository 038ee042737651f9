/** The keys of `[environments]`: whether and from where the Python and Node packages of skills are installed. Part of `config-fields.ts`. */
import type { ConfigField } from "./config-fields.ts";
import { onlyTo } from "./tightening.ts";
import { BOOLEAN, WEB_ADDRESS } from "./value-types.ts";

export const ENVIRONMENT_FIELDS: readonly ConfigField[] = [
  {
    path: "environments.build",
    type: BOOLEAN,
    description: "Whether the Python and Node packages that a trusted skill locks are installed for it.",
    default: true,
    project: "tighten",
    tightening: onlyTo(false),
  },
  {
    path: "environments.python-index",
    type: WEB_ADDRESS,
    description: "Where Python packages come from; by default PyPI.",
    project: "ignore",
  },
  {
    path: "environments.node-registry",
    type: WEB_ADDRESS,
    description: "Where Node packages come from; by default the registry that npm is set to.",
    project: "ignore",
  },
];
