/** The door `@metier/capabilities` for other packages. */
export { readPasted, recogniseCallback } from "./auth/read-answer.ts";
export {
  type Answer,
  type AuthBeginRequest,
  type AuthCompleteRequest,
  type AuthorizedAccount,
  type AuthPoll,
  type AuthPollRequest,
  answerFault,
  answerWith,
  type BegunAuth,
  CAPABILITY_CODES,
  type CapabilityCaller,
  type CapabilityCode,
  type CapabilityDefinition,
  type CapabilityFault,
  type CapabilityListing,
  type CapabilityOperation,
  type CapabilityProvider,
  type FlowType,
  type LinkedAccount,
  type ProviderAccount,
  type ProviderContext,
  type ProviderInvocation,
  type ProviderVault,
} from "./capability.ts";
export type {
  AskedChange,
  AuditEntry,
  AuthFlow,
  BeginRequest,
  BrokerCallOptions,
  CapabilityBroker,
  CompletedAuth,
  CompleteRequest,
  Confirmed,
  ConfirmMutation,
  ForgottenUsers,
  InvokeAnswer,
  InvokeRequest,
  KeepChange,
  KeptChange,
  MutationPlan,
  PolledAuth,
  ProviderStatus,
} from "./capability-broker.ts";
export type { BrokerInput } from "./create-broker.ts";
export type { WiredProvider } from "./provider-registry.ts";
export { makeRequest } from "./providers/bridge-protocol.ts";
export { createPersistentBridge } from "./providers/persistent-bridge.ts";
export type { WireRequest } from "./providers/wire-providers.ts";
export type { CapabilitySocket, CapabilitySocketParts } from "./rpc/capability-socket.ts";
export { tellStateError } from "./state-files.ts";
export type { CallerTokens } from "./tokens/caller-tokens.ts";
export type { VaultOptions, VaultState } from "./vault/open-vault.ts";
