/**
 * The keys of `[tools]`, `[sandbox]`, `[scan]`, `[install]`, `[environments]` and `[runs]`: what skills may do, what
 * contains them, and how much a run may use.
 */
import {
  type Config,
  type EnvironmentsConfig,
  type InstallConfig,
  OUTPUT_FILTERS,
  type RunsConfig,
  type SandboxConfig,
  SCAN_SEVERITIES,
  type ScanConfig,
} from "./config.ts";
import {
  COMMON_DOMAINS,
  COMMON_FOLDERS,
  COMMON_NAMES,
  type ConfigField,
  fieldsOf,
  onlyTo,
  SMALLER,
  stricterOf,
} from "./config-field.ts";
import { BOOLEAN, integer, oneOf, PATHS, PRICE, TEXTS, WEB_ADDRESS } from "./value-types.ts";

export const TOOL_FIELDS: readonly ConfigField[] = fieldsOf<Config["tools"]>("tools", {
  "<tool>": {
    type: oneOf("allow", "ask", "deny"),
    description: 'What happens to a tool call, by tool name or pattern: `"bash(git:*)"`.',
    tightening: stricterOf("allow", "ask", "deny"),
  },
});

export const SANDBOX_FIELDS: readonly ConfigField[] = fieldsOf<SandboxConfig>("sandbox", {
  backend: {
    type: oneOf("auto", "bubblewrap", "sandbox-runtime", "just-bash", "none"),
    description: "What isolates commands; `none` runs them unsandboxed.",
    default: "auto",
    tightening: stricterOf("none", "just-bash", "sandbox-runtime", "auto", "bubblewrap"),
  },
  network: {
    type: TEXTS,
    description: "Domains any trusted skill may reach.",
    default: [],
    tightening: COMMON_DOMAINS,
  },
  read: {
    type: PATHS,
    description: "Paths outside the working directory that any trusted skill may read.",
    default: [],
    project: "ignore",
    tightening: COMMON_FOLDERS,
  },
  write: {
    type: PATHS,
    description: "Folders that any trusted skill may write to, and read.",
    default: [],
    project: "ignore",
    tightening: COMMON_FOLDERS,
    heldBy: ["sandbox.read"],
  },
  programs: {
    type: TEXTS,
    description:
      "Extra programs for sandboxed commands: a name on your PATH, a file, or an installation folder with `bin`.",
    default: [],
    project: "ignore",
    tightening: COMMON_NAMES,
  },
  "memory-mb": {
    type: integer(64, 1_048_576, "megabytes"),
    description: "How much memory all processes of one command may use together.",
    default: 4096,
    tightening: SMALLER,
  },
  processes: {
    type: integer(8, 32_768, "processes"),
    description: "How many processes one command may run at the same time.",
    default: 256,
    tightening: SMALLER,
  },
  "work-mb": {
    type: integer(1, 1_048_576, "megabytes"),
    description: "How much a run may keep in its work folder, and its skill in the data folder.",
    default: 2048,
    tightening: SMALLER,
  },
});

export const SCAN_FIELDS: readonly ConfigField[] = fieldsOf<ScanConfig>("scan", {
  block: {
    type: oneOf(...SCAN_SEVERITIES),
    description: "The lowest severity that blocks an untrusted skill from being installed or used.",
    default: "block",
    tightening: stricterOf(...SCAN_SEVERITIES.toReversed()),
  },
  ignore: {
    type: TEXTS,
    description: "Scan rules to skip, by id.",
    default: [],
    project: "ignore",
    tightening: COMMON_NAMES,
  },
  baseline: {
    type: PATHS,
    description: "Files with accepted findings, as written by `metier scan --write-baseline`.",
    default: [],
    project: "ignore",
    tightening: COMMON_FOLDERS,
  },
});

export const INSTALL_FIELDS: readonly ConfigField[] = fieldsOf<InstallConfig>("install", {
  "private-hosts": {
    type: TEXTS,
    description:
      "Hosts in private networks that skills may be installed from over `https:`, such as `git.corp.example`, `git.corp.example:8443` or `10.1.2.3`.",
    default: [],
    project: "never",
    tightening: COMMON_DOMAINS,
  },
});

export const ENVIRONMENT_FIELDS: readonly ConfigField[] = fieldsOf<EnvironmentsConfig>("environments", {
  build: {
    type: BOOLEAN,
    description: "Whether to install the Python and Node packages that a trusted skill locks.",
    default: true,
    tightening: onlyTo(false),
  },
  "python-index": { type: WEB_ADDRESS, description: "Where Python packages come from; default: PyPI." },
  "node-registry": {
    type: WEB_ADDRESS,
    description: "Where Node packages come from; default: the registry that npm uses.",
  },
});

export const LIMIT_FIELDS: readonly ConfigField[] = fieldsOf<RunsConfig>("runs", {
  "max-iterations": {
    type: integer(1, 1000, "steps"),
    description:
      "How many times a run may call its model; a skill's `max-iterations` may ask for less or more.",
    default: 10,
    tightening: SMALLER,
  },
  "timeout-seconds": {
    type: integer(1, 86_400, "seconds"),
    description: "How long a run may take.",
    default: 600,
    tightening: SMALLER,
  },
  "max-tokens": {
    type: integer(1, 1_000_000_000, "tokens"),
    description: "How many tokens a run may use, including the runs it starts; default: no limit.",
    tightening: SMALLER,
  },
  "max-cost": {
    type: PRICE,
    description: "What a run may cost, in US dollars, or in your prices' currency.",
    tightening: SMALLER,
  },
  "max-cost-per-day": {
    type: PRICE,
    description:
      "What all runs of a day may cost together, counted from the kept logs; at the limit, runs stop and new ones do not start.",
    tightening: SMALLER,
  },
  "max-output-bytes": {
    type: integer(1, 1_000_000_000, "bytes"),
    description: "How much a run's model may write, including reasoning and tool call input.",
    default: 1_000_000,
    tightening: SMALLER,
  },
  "max-depth": {
    type: integer(1, 10, "runs"),
    description: "How many levels deep skills may start each other.",
    default: 3,
    tightening: SMALLER,
  },
  "output-filter": {
    type: oneOf(...OUTPUT_FILTERS),
    description:
      "What to do with tool output that reads like instructions: `mark` it as data, `block` it, or `off`.",
    default: "mark",
    tightening: stricterOf(...OUTPUT_FILTERS),
  },
});
