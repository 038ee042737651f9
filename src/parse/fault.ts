/** A diagnostic before it knows its file: what the parts of the parser report; `parse-skill.ts` adds the path. */
import type { Diagnostic } from "../foundation/diagnostic.ts";

export type Fault = Omit<Diagnostic, "path">;
