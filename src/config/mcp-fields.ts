/** The keys of `[mcp]`: servers whose skills are offered beside those on this machine. Part of `config-fields.ts`. */
import type { ConfigField } from "./config-fields.ts";
import { onlyTo, SMALLER } from "./tightening.ts";
import { BOOLEAN, ENVIRONMENT_VALUE, integer, PROGRAM, SERVER_ADDRESS } from "./value-types.ts";

const SERVER = "mcp.servers.<server>";

/** A project adds no server, granted or not: what a server says goes to the model. */
export const MCP_FIELDS: readonly ConfigField[] = [
  {
    path: `${SERVER}.enabled`,
    type: BOOLEAN,
    description: "Whether the skills of the server are offered; by default they are.",
    project: "tighten",
    tightening: onlyTo(false),
  },
  {
    path: `${SERVER}.command`,
    type: PROGRAM,
    description: "The program that is the server, spoken with over its standard input and output.",
    project: "never",
  },
  {
    path: `${SERVER}.url`,
    type: SERVER_ADDRESS,
    description: "The address of a server that listens, instead of a program.",
    project: "never",
  },
  {
    path: `${SERVER}.bearer`,
    type: ENVIRONMENT_VALUE,
    description: "The token that a server at an address is sent.",
    project: "never",
    secret: true,
  },
  {
    path: `${SERVER}.timeout-seconds`,
    type: integer(1, 300, "seconds"),
    description: "How long one answer of the server may take; by default 30.",
    project: "tighten",
    tightening: SMALLER,
  },
  {
    path: `${SERVER}.env.<VARIABLE>`,
    type: ENVIRONMENT_VALUE,
    description: "A variable of the server's process, in UPPER_CASE.",
    project: "never",
    secret: true,
  },
];
