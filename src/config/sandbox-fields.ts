/** The keys of `[sandbox]` and `[skills.<skill>.sandbox]`: what holds a run, and what it may reach. Part of `config-fields.ts`. */
import type { ConfigField } from "./config-fields.ts";
import { COMMON_DOMAINS, COMMON_FOLDERS, COMMON_NAMES, SMALLER, stricterOf } from "./tightening.ts";
import { integer, oneOf, PATHS, TEXTS } from "./value-types.ts";

/** What the user grants: to every trusted skill, or under a skill's own table to that one. */
export function reachFields(parent: string): readonly ConfigField[] {
  const isForAll = parent === "sandbox";
  const whose = isForAll ? "any trusted skill" : "this skill, once it is trusted,";
  const others = { project: "ignore", ...(isForAll && { default: [] }) } as const;
  return [
    {
      ...others,
      path: `${parent}.network`,
      type: TEXTS,
      description: `Domains ${whose} may reach.`,
      ...(isForAll ? { project: "tighten", tightening: COMMON_DOMAINS } : { heldBy: ["sandbox.network"] }),
    },
    {
      ...others,
      path: `${parent}.read`,
      type: PATHS,
      description: `Paths outside of the working directory that ${whose} may read.`,
      ...(isForAll ? { tightening: COMMON_FOLDERS } : { heldBy: ["sandbox.read"] }),
    },
    {
      ...others,
      path: `${parent}.write`,
      type: PATHS,
      description: `Folders that ${whose} may write to, and so read.`,
      heldBy: isForAll ? ["sandbox.read"] : ["sandbox.read", "sandbox.write"],
      ...(isForAll && { tightening: COMMON_FOLDERS }),
    },
  ];
}

export const SANDBOX_FIELDS: readonly ConfigField[] = [
  {
    path: "sandbox.backend",
    type: oneOf("auto", "bubblewrap", "sandbox-runtime", "just-bash", "none"),
    description: "What isolates commands; `none` runs them unsandboxed.",
    default: "auto",
    project: "tighten",
    tightening: stricterOf("none", "just-bash", "sandbox-runtime", "auto", "bubblewrap"),
  },
  ...reachFields("sandbox"),
  {
    path: "sandbox.programs",
    type: TEXTS,
    description:
      "Further programs that sandboxed commands find: a name on your PATH, a file, or an installation folder with `bin`.",
    default: [],
    project: "ignore",
    tightening: COMMON_NAMES,
  },
  {
    path: "sandbox.memory-mb",
    type: integer(64, 1_048_576, "megabytes"),
    description: "How much memory the processes of one command may use together.",
    default: 4096,
    project: "tighten",
    tightening: SMALLER,
  },
  {
    path: "sandbox.processes",
    type: integer(8, 32_768, "processes"),
    description: "How many processes one command may have at a time.",
    default: 256,
    project: "tighten",
    tightening: SMALLER,
  },
  {
    path: "sandbox.work-mb",
    type: integer(1, 1_048_576, "megabytes"),
    description: "How much a run may keep in its work folder, and its skill in the data folder.",
    default: 2048,
    project: "tighten",
    tightening: SMALLER,
  },
];
