/** Where a desk keeps what: its accounts, and what it remembers of who has linked them. */
import { join } from "node:path";
import type { Environment } from "../host/find-command.ts";
import { expandPath, metierPlaces } from "../host/places.ts";

export interface DeskPlaces {
  /** A folder for each account. `DESK_ROOT`, or `<home>/.metier/desk`, which no run sees. */
  readonly root: string;
  /** `DESK_AUTH_SERVER`. Absent: what `metier-desk serve` has written beside the accounts. */
  readonly authorizationServer?: string;
  readonly linkedAccounts: string;
  /** Of the desk's own: a bridge cannot reach the keychain of the session, and needs nothing that others keep. */
  readonly vault: string;
}

export function deskPlaces(environment: Environment): DeskPlaces {
  const { home, base, state } = metierPlaces(undefined, environment);
  const { DESK_ROOT, DESK_AUTH_SERVER } = environment;
  return {
    root: DESK_ROOT ? expandPath(DESK_ROOT, home, home) : join(base, "desk"),
    ...(DESK_AUTH_SERVER && { authorizationServer: DESK_AUTH_SERVER }),
    linkedAccounts: join(state, "desk", "accounts"),
    vault: join(state, "desk", "vault"),
  };
}
