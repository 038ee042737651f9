/** A list of diagnostics: severity, message, hint and place. */
import type { ApiDiagnostic } from "@metier/service/api";
import type { ComponentChildren } from "preact";
import { StatusBadge } from "../design/badge.tsx";
import { Message } from "../design/text.tsx";

interface ProblemListProps {
  readonly diagnostics: readonly ApiDiagnostic[];
  /** Its place, for example as a link to the line. */
  placeOf?(diagnostic: ApiDiagnostic): ComponentChildren;
}

export function ProblemList({ diagnostics, placeOf }: ProblemListProps) {
  return (
    <ul class="problems">
      {diagnostics.map((diagnostic, index) => (
        <li key={`${index}`}>
          <StatusBadge status={diagnostic.severity} />
          <div class="stack tight">
            <p>
              <Message text={diagnostic.message} />
            </p>
            {diagnostic.hint && (
              <p class="soft">
                <Message text={diagnostic.hint} />
              </p>
            )}
            <p class="small soft">
              {placeOf?.(diagnostic)} <code>{diagnostic.code}</code>
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}
