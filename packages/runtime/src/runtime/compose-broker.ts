/** Creates the broker that the config describes: its providers, the program's own, and this machine's vault. */
import { join } from "node:path";
import type { CapabilityBroker, VaultOptions, WiredProvider } from "@metier/capabilities";
import { createBroker, findKeychain, openVault, wireProviders } from "@metier/capabilities/broker";
import { createSecretMachine } from "@metier/run/engine";
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

/** Starts nothing. */
export function wireConfigured({
  config,
  options: { providers: given = [] },
  places,
  environment,
  cwd,
}: CapabilityInputs): readonly WiredProvider[] {
  const machine = createSecretMachine({ environment, base: cwd, places });
  return wireProviders({ config: config().config, places, environment, machine, given });
}

export function vaultPlace({
  places,
  environment,
}: Pick<CapabilityInputs, "places" | "environment">): VaultOptions {
  return { folder: join(places.base, "vault"), keychain: findKeychain(environment) };
}
