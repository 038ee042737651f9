/** Who answers the calls of the bench, by the names that its table has. */
export const ECHO = "a bare socket that echoes";
export const IN_PROCESS = "provider in the same process";
export const PERSISTENT = "bridge that stays";
export const PER_CALL = "bridge, one process per call";

/**
 * How many calls each makes in one round: a process takes its time.
 *
 * @type {Readonly<Record<string, number>>}
 */
export const CALLS_PER_ROUND = { [ECHO]: 100, [IN_PROCESS]: 100, [PERSISTENT]: 100, [PER_CALL]: 5 };
/** Of one connection; as many as the socket performs at once. */
export const AT_ONCE = 8;
