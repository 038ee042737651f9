/** The program that Metier starts for `[capabilities.providers.desk]`: the desk, spoken to by `bridge-v1`. */
import { openVault } from "../capabilities/vault/open-vault.ts";
import { deskPlaces } from "./desk-places.ts";
import { createDeskProvider, NAMESPACE } from "./desk-provider.ts";
import { BridgeFault, serveBridge } from "./serve-bridge.ts";

const { env } = process;
const places = deskPlaces(env);
const vault = openVault({ folder: places.vault });
const parts = {
  provider: createDeskProvider({
    ...places,
    stateFolder: places.linkedAccounts,
  }),
  secret: env.METIER_CONTEXT_TOKEN_SECRET ?? env.ASH_CONTEXT_TOKEN_SECRET ?? "",
  openVault: (userId: string) => vault.open(NAMESPACE, userId),
  signal: new AbortController().signal,
};

try {
  await serveBridge(parts, process.stdin, process.stdout);
} catch (fault) {
  process.stderr.write(`desk: ${fault instanceof BridgeFault ? fault.message : "it failed inside."}\n`);
  process.exitCode = 1;
}
