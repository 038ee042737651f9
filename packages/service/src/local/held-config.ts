/** What no config file of the machine changes about runs of a service. */

/** Runs of a service see no working directory, run no program of the machine, and are always sandboxed. */
export const HELD = { sandbox: { backend: "bubblewrap", programs: [] } };

/** Of those for uploads: nothing of the home is among them, also after it was looked for anew. */
export const ONLY_NAMED = { ...HELD, skills: { "auto-discover": false } };
