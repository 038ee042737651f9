/** Compares two texts line by line. The comparison code is loaded on first use. */
import type { ApiDiffLine } from "@metier/service/api";
import { useEffect, useState } from "preact/hooks";
import { Diff } from "../design/diff.tsx";

interface Hunk {
  readonly lines: readonly ApiDiffLine[];
}

/** Longer texts are compared up to this length: nobody reads more, and the time grows faster than the text. */
const MOST_TEXT = 100_000;
const MOST_MS = 1_000;
const CONTEXT = 3;

interface TextDiffProps {
  readonly label: string;
  readonly left: string;
  readonly right: string;
}

export function TextDiff({ label, left, right }: TextDiffProps) {
  const [hunks, setHunks] = useState<readonly Hunk[] | "too different" | undefined>(undefined);
  useEffect(() => {
    let isOpen = true;
    void compareTexts(left.slice(0, MOST_TEXT), right.slice(0, MOST_TEXT)).then((found) => {
      if (isOpen) setHunks(found ?? "too different");
    });
    return () => {
      isOpen = false;
    };
  }, [left, right]);
  if (hunks === undefined) return <p class="soft small">Comparing…</p>;
  if (hunks === "too different")
    return <p class="soft small">The texts are too different to compare by lines.</p>;
  return (
    <>
      <Diff label={label} hunks={hunks} />
      {Math.max(left.length, right.length) > MOST_TEXT && (
        <p class="soft small">Only the first {MOST_TEXT / 1000} KB are compared.</p>
      )}
    </>
  );
}

async function compareTexts(left: string, right: string): Promise<readonly Hunk[] | undefined> {
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch("", "", endLine(left), endLine(right), "", "", {
    context: CONTEXT,
    timeout: MOST_MS,
  });
  return patch?.hunks.map(({ oldStart, newStart, lines }) => ({
    lines: numberLines(lines, oldStart, newStart),
  }));
}

/** A last line without a line break would count as different. */
function endLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function numberLines(lines: readonly string[], oldStart: number, newStart: number): readonly ApiDiffLine[] {
  let [oldLine, newLine] = [oldStart, newStart];
  return lines.flatMap((line): readonly ApiDiffLine[] => {
    const text = line.slice(1);
    if (line.startsWith("+")) return [{ kind: "added", text, newLine: newLine++ }];
    if (line.startsWith("-")) return [{ kind: "removed", text, oldLine: oldLine++ }];
    if (line.startsWith(" ")) return [{ kind: "same", text, oldLine: oldLine++, newLine: newLine++ }];
    return [];
  });
}
