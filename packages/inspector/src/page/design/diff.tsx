/** Lines before and after, with old and new numbers, and findings on new lines. */
import type { ApiDiffLine, ApiFinding } from "@metier/service/api";
import { StatusBadge } from "./badge.tsx";
import { markRedactions } from "./text.tsx";

const SIGNS: Readonly<Record<ApiDiffLine["kind"], string>> = { same: " ", added: "+", removed: "-" };
/** The limit for a line in a list of changes; someone who decides by it sees all of it (`isWhole`). */
const MOST_LINE = 2_000;

interface DiffProps {
  readonly label: string;
  readonly hunks: readonly { readonly lines: readonly ApiDiffLine[] }[];
  readonly findings?: readonly ApiFinding[];
  /** No matter how long its lines are. */
  readonly isWhole?: boolean;
}

export function Diff({ label, hunks, findings = [], isWhole = false }: DiffProps) {
  const byLine = Map.groupBy(findings, ({ line }) => line);
  return (
    <div class="diff scrolls" role="region" aria-label={label} tabIndex={0}>
      <table>
        <caption class="hidden">{label}</caption>
        {hunks.map((hunk, index) => (
          <tbody key={`${index}`}>
            {hunk.lines.map((line, place) => (
              <DiffRow
                key={`${place}`}
                line={line}
                isWhole={isWhole}
                findings={line.kind === "added" ? (byLine.get(line.newLine) ?? []) : []}
              />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

function DiffRow({
  line,
  findings,
  isWhole,
}: {
  readonly line: ApiDiffLine;
  readonly isWhole: boolean;
  readonly findings: readonly ApiFinding[];
}) {
  const { kind, text, oldLine, newLine } = line;
  return (
    <>
      <tr class={kind}>
        <td class="number soft">{oldLine}</td>
        <td class="number soft">{newLine}</td>
        <td>
          <span class="hidden">{kind === "same" ? "" : `${kind}: `}</span>
          <span aria-hidden="true">{SIGNS[kind]} </span>
          {markRedactions(isWhole ? text : text.slice(0, MOST_LINE))}
          {!isWhole && text.length > MOST_LINE && (
            <span class="soft"> … {text.length - MOST_LINE} more characters</span>
          )}
        </td>
      </tr>
      {findings.map(({ rule, severity, message }) => (
        <tr key={rule} class="finding">
          <td colSpan={2} />
          <td>
            <StatusBadge status={severity} /> {message} <span class="soft">({rule})</span>
          </td>
        </tr>
      ))}
    </>
  );
}

/** Parses the unified diff of a tool call into lines. */
export function readUnified(text: string): readonly { readonly lines: readonly ApiDiffLine[] }[] {
  const hunks: { lines: ApiDiffLine[] }[] = [];
  let oldLine = 0;
  let newLine = 0;
  for (const line of text.split("\n")) {
    const [, from, to] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line) ?? [];
    if (from !== undefined && to !== undefined) {
      [oldLine, newLine] = [Number(from), Number(to)];
      hunks.push({ lines: [] });
      continue;
    }
    const lines = hunks.at(-1)?.lines;
    const rest = line.slice(1);
    if (line.startsWith("+")) lines?.push({ kind: "added", text: rest, newLine: newLine++ });
    else if (line.startsWith("-")) lines?.push({ kind: "removed", text: rest, oldLine: oldLine++ });
    else if (line.startsWith(" "))
      lines?.push({ kind: "same", text: rest, oldLine: oldLine++, newLine: newLine++ });
  }
  return hunks;
}
