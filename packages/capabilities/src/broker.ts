/** The door `@metier/capabilities/broker` for other packages. */
export { openAccounts } from "./accounts.ts";
export { openCallbackListener } from "./auth/callback-listener.ts";
export { createBroker } from "./create-broker.ts";
export { wireProviders } from "./providers/wire-providers.ts";
export { openCapabilitySocket } from "./rpc/capability-socket.ts";
export { createCallerTokens, verifyBridgeToken } from "./tokens/caller-tokens.ts";
export { findKeychain } from "./vault/keychain.ts";
export { describeVault, openVault } from "./vault/open-vault.ts";
