/** The door `@metier/sandbox/secrets` for other packages. */

export { createRedactor, type RedactionStream, type Redactor, type Secret } from "./secrets/redaction.ts";
export {
  configuredSecrets,
  fetchSecret,
  missingVariables,
  type RunEnvironment,
  resolveRunEnvironment,
  type SecretMachine,
} from "./secrets/run-environment.ts";
export { isLongEnough } from "./secrets/secret-forms.ts";
