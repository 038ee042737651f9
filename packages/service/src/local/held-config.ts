/** What no config file on the machine can change about a service's runs. */

/** Runs of a service see no working directory, run no program of the machine, and are always sandboxed. */
export const HELD = { sandbox: { backend: "bubblewrap", programs: [] } };

/** Of those for uploads: nothing of the home is among them, also after it was looked for anew. */
export const ONLY_NAMED = { ...HELD, skills: { "auto-discover": false } };

/** Of skills that clients load into their own models: no command in a text is run. */
const READ = { skills: { "dynamic-context": false } };

export const ONLY_READ = { ...HELD, ...READ };
export const ONLY_NAMED_READ = { ...HELD, skills: { ...ONLY_NAMED.skills, ...READ.skills } };
