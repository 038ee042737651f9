/** Paths that hold only inside a sandbox, and that both sides must agree on. */

/** The programs that Metier brings; first on the PATH. */
export const BIN = "/run/metier/bin";
/** This folder. */
export const INSIDE = "/run/metier/inside";
/** The socket of the allow-list proxy, for a command that is granted domains. */
export const EGRESS_SOCKET = "/run/metier/egress.sock";
/** The socket of the capabilities, for a command of a run whose skill declares some. */
export const CAPABILITY_SOCKET = "/run/metier/capability.sock";
