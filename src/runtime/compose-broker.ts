/** Makes the broker that the config describes: its providers, the program's own, and the vault of this machine. */
import { join } from "node:path";
import type { WiredProvider } from "../capabilities/broker-parts.ts";
import type { CapabilityBroker } from "../capabilities/capability-broker.ts";
import { createBroker } from "../capabilities/create-broker.ts";
import { wireProviders } from "../capabilities/providers/wire-providers.ts";
import { findKeychain } from "../capabilities/vault/keychain.ts";
import { openVault, type VaultOptions } from "../capabilities/vault/open-vault.ts";
import { createSecretMachine } from "../run/prepare-parts.ts";
import type { CapabilityInputs } from "./capabilities.ts";

export function composeBroker(
  inputs: CapabilityInputs,
  providers: readonly WiredProvider[] = wireConfigured(inputs),
): CapabilityBroker {
  return createBroker({
    providers,
    places: inputs.places,
    vault: openVault(vaultPlace(inputs)),
    rateLimit: inputs.config().config.capabilities.rateLimit,
  });
}

/** Nothing is started by it. */
export function wireConfigured({
  config,
  options: { providers: given = [] },
  places,
  environment,
}: CapabilityInputs): readonly WiredProvider[] {
  const machine = createSecretMachine(environment);
  return wireProviders({ config: config().config, places, environment, machine, given });
}

export function vaultPlace({
  places,
  environment,
}: Pick<CapabilityInputs, "places" | "environment">): VaultOptions {
  return { folder: join(places.base, "vault"), keychain: findKeychain(environment) };
}
