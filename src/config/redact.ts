/** What may be shown of a config value. Secrets leave the config only by being used, never in a message. */
import type { ConfigField } from "./config-fields.ts";
import { isTable } from "./value-types.ts";

export const REDACTED = "••••";

const URL_CREDENTIALS = /(:\/\/)[^/?#\s@]+@/g;
const MOST_CHARACTERS = 80;

/** The value as data, with secrets and the credentials of URLs replaced. */
export function redactValue(field: ConfigField, value: unknown): unknown {
  if (!field.secret) return withoutCredentials(value);
  if (!isTable(value)) return REDACTED;
  const { value: own, secret, ...reference } = value;
  if (own === undefined) return withoutCredentials(reference); // a command or a key chain: it holds no secret
  return secret === false ? withoutCredentials(own) : REDACTED;
}

/** The value on one short line, for messages. Tables are not shown: what stands in the wrong place may be secret. */
export function showValue(field: ConfigField, value: unknown): string {
  if (field.secret) return REDACTED;
  if (isTable(value)) return "a table";
  if (Array.isArray(value) && value.some(isTable)) return "a list with tables";
  const text = JSON.stringify(withoutCredentials(value)) ?? String(value);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

function withoutCredentials(value: unknown): unknown {
  if (typeof value === "string") return value.replace(URL_CREDENTIALS, `$1${REDACTED}@`);
  if (Array.isArray(value)) return value.map(withoutCredentials);
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutCredentials(item)]));
}
