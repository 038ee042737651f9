/** How many of each are measured. */
export const STARTS = 300;
export const WAKES = 200;
export const THROUGH = 400;
/** Runs of openworkflow alone, which waits for the disk at each commit. */
export const BARE = 200;
export const ROUNDS = 3;
export const STEPS = 5;
export const SLOTS = 20;
export const CANCELS = 20;
export const STREAMS = 500;
/** Another tenant's queue, how long each of its runs takes, and how many times a neighbor adds a run. */
export const NEIGHBOUR_QUEUED = 20_000;
export const NEIGHBOUR_MS = 300;
export const NEIGHBOURS = 200;
