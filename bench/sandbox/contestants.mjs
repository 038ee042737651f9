/** The contestants of the sandbox bench: names that the measuring program and the report share. */

export const PLAIN = "plain spawn";
/** The same profile, without the limits that `prlimit` sets inside. */
export const UNLIMITED = "bare `bwrap`, without `prlimit`";
export const BARE = "bare `bwrap`, same arguments";
/** For the later commands of a run: the sandbox was made in advance. */
export const BUBBLEWRAP = "bubblewrap";
/** For the first commands of a run, and those with standard input. */
export const MADE_FOR_IT = "bubblewrap, made for the command";

/** @type {readonly import("../../packages/sandbox/src/sandbox/sandbox.ts").SandboxBackend[]} */
export const BACKENDS = [BUBBLEWRAP, "sandbox-runtime", "just-bash", "none"];
