/** Who answers the calls in this bench, by name in its table. */
export const ECHO = "a bare socket that echoes";
export const BARE_PIPE = "the bridge's process alone, through a bare pipe";
export const IN_PROCESS = "provider in the same process";
export const PERSISTENT = "bridge that stays";
export const PER_CALL = "bridge, one process per call";

/**
 * How many calls each makes in one round: fewer if each call starts a process.
 *
 * @type {Readonly<Record<string, number>>}
 */
export const CALLS_PER_ROUND = {
  [ECHO]: 100,
  [BARE_PIPE]: 100,
  [IN_PROCESS]: 100,
  [PERSISTENT]: 100,
  [PER_CALL]: 5,
};
/** For one connection; as many as the socket performs at once. */
export const AT_ONCE = 8;

const SCHEMA = {
  type: "object",
  properties: { text: { type: "string", maxLength: 1000 } },
  required: ["text"],
  additionalProperties: false,
};
/** What every provider in this bench offers. */
export const OPERATION = {
  name: "echo",
  description: "Gives back its input.",
  requires_auth: false,
  input_schema: SCHEMA,
  output_schema: SCHEMA,
};
