/** The door `@metier/sandbox/egress` for other packages. */
export {
  type AddressBook,
  checkDestination,
  checkUrl,
  type EgressRefusal,
  isNamedPrivate,
  isPublicAddress,
  readDomainGrant,
  SYSTEM_ADDRESSES,
} from "./egress/check-destination.ts";
export { type FetchedAnswer, type FetchLimits, guardedFetch } from "./egress/guarded-fetch.ts";
export { checkReachable, createHostFetch } from "./egress/host-fetch.ts";
export { splice } from "./egress/pass-on.ts";
export {
  type EgressProxy,
  type EgressProxyOptions,
  makePrivateSocket,
  openEgressProxy,
} from "./egress/proxy.ts";
