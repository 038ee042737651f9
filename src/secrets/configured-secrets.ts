/** Every secret that stands in the config, whoever it is for: a run may come upon one that was never given to it. */
import type { Config } from "../config/config.ts";
import type { Secret } from "./redaction.ts";
import { isLongEnough } from "./secret-forms.ts";

/** Without those that have to be fetched, and without short ones: whoever is given one is warned of it. */
export function configuredSecrets({ skills, models }: Pick<Config, "skills" | "models">): readonly Secret[] {
  const variables = Object.values(skills.settings).flatMap(({ env }) =>
    Object.entries(env).flatMap(([name, source]) =>
      source.secret && "value" in source ? [{ name, value: source.value }] : [],
    ),
  );
  const keys = Object.entries(models).flatMap(([alias, { apiKey }]) =>
    apiKey === undefined ? [] : [{ name: `models.${alias}.api-key`, value: apiKey }],
  );
  return [...variables, ...keys].filter(({ value }) => isLongEnough(value));
}
