/** One redaction gate for a run, or a script, and all that it starts: what one was given, another may come upon. */
import type { PreparedInvocation } from "../invoke/invocation.ts";
import { configuredSecrets } from "../secrets/configured-secrets.ts";
import { createRedactor, type Redactor } from "../secrets/redaction.ts";
import { isLongEnough } from "../secrets/secret-forms.ts";
import type { RunHost } from "./run-host.ts";
import type { RunParent } from "./run-parent.ts";
import type { RunRequest } from "./run-request.ts";

export interface RedactorInput {
  readonly prepared: Pick<PreparedInvocation, "env">;
  readonly request: Pick<RunRequest, "env">;
  readonly host: Pick<RunHost, "config">;
  readonly parent?: Pick<RunParent, "redactor">;
}

export function openRedactor({ prepared, request, host, parent }: RedactorInput): Redactor {
  const redactor = parent?.redactor ?? createRedactor(configuredSecrets(host.config().config));
  for (const [name, { value, secret }] of Object.entries(prepared.env)) {
    if (secret) redactor.add({ name, value });
  }
  for (const [name, value] of Object.entries(request.env ?? {})) {
    // Not given to the skill, but in a file that the user named.
    if (!(name in prepared.env) && isLongEnough(value)) redactor.add({ name, value });
  }
  return redactor;
}
