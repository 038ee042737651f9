/** Why nothing was published, as the error that ends a command; as JSON it lists the skills that were the reason. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { MetierError } from "../foundation/errors.ts";
import type { PublishFault, RefusedSkill } from "../publish/publish-outcome.ts";

export class PublishError extends MetierError {
  readonly refused?: readonly RefusedSkill[];
  readonly diagnostics?: readonly Diagnostic[];

  constructor({ code, message, hint, refused, diagnostics }: PublishFault) {
    super(code, message, { hint });
    if (refused.length > 0) this.refused = refused;
    if (diagnostics.length > 0) this.diagnostics = diagnostics;
  }
}
