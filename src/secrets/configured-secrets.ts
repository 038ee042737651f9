/** Every secret that stands in the config, whoever it is for: a run may come upon one that was never given to it. */
import type { Config } from "../config/config.ts";
import type { Secret } from "./redaction.ts";
import { isLongEnough } from "./secret-forms.ts";

/** Without those that have to be fetched, and without short ones: whoever is given one is warned of it. */
export function configuredSecrets({
  skills,
  models,
  capabilities,
  mcp,
}: Pick<Config, "skills" | "models" | "capabilities" | "mcp">): readonly Secret[] {
  const settings = Object.values(skills.settings);
  const providers = [
    ...settings.map(({ capabilityProvider }) => capabilityProvider),
    ...Object.values(capabilities.providers),
  ];
  const servers = Object.values(mcp.servers);
  const variables = [...settings, ...providers, ...servers].flatMap((owner) =>
    Object.entries(owner?.env ?? {}).flatMap(([name, source]) =>
      source.secret && "value" in source ? [{ name, value: source.value }] : [],
    ),
  );
  const keys = Object.entries(models).flatMap(([alias, { apiKey }]) =>
    apiKey === undefined ? [] : [{ name: `models.${alias}.api-key`, value: apiKey }],
  );
  const bearers = Object.entries(mcp.servers).flatMap(([label, { bearer }]) =>
    bearer?.secret && "value" in bearer ? [{ name: `mcp.servers.${label}.bearer`, value: bearer.value }] : [],
  );
  return [...variables, ...keys, ...bearers].filter(({ value }) => isLongEnough(value));
}
