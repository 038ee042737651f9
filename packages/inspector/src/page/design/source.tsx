/** Text with numbered lines, for references by line. Findings appear below their line. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { CopyButton, showUnseen } from "./text.tsx";

interface SourceNote {
  readonly line: number;
  readonly note: ComponentChildren;
}

interface SourceProps {
  readonly label: string;
  readonly text: string;
  readonly notes?: readonly SourceNote[];
  /** Scrolled to and marked. */
  readonly line?: number | undefined;
}

const MOST_LINES = 1_000;
const MOST_LINE = 2_000;

export function Source({ label, text, notes = [], line }: SourceProps) {
  const [isWhole, setWhole] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => showMarked(box.current), [text, line]);
  const lines = text.split("\n");
  const most = isWhole ? lines.length : Math.max(MOST_LINES, (line ?? 0) + 50);
  const byLine = Map.groupBy(notes, (one) => one.line);
  return (
    <div class="stack source">
      <div class="row source-tools">
        <CopyButton text={text} />
        {lines.length > most && (
          <Button kind="quiet" onPress={() => setWhole(true)}>
            Show all {lines.length} lines
          </Button>
        )}
      </div>
      <div class="diff scrolls" role="region" aria-label={label} tabIndex={0} ref={box}>
        <table>
          <caption class="hidden">{label}</caption>
          <tbody>
            {lines.slice(0, most).map((content, index) => (
              <SourceLine
                key={`${index}`}
                number={index + 1}
                content={content}
                notes={byLine.get(index + 1) ?? []}
                isMarked={index + 1 === line}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

/** Scrolls inside the box; the page stays where it is. */
function showMarked(box: HTMLElement | null): void {
  const row = box?.querySelector(".source-marked");
  if (!box || !row) return;
  const distance = row.getBoundingClientRect().top - box.getBoundingClientRect().top;
  box.scrollTop += distance - box.clientHeight / 2;
}

interface SourceLineProps {
  readonly number: number;
  readonly content: string;
  readonly notes: readonly SourceNote[];
  readonly isMarked: boolean;
}

function SourceLine({ number, content, notes, isMarked }: SourceLineProps) {
  const cut = content.length > MOST_LINE ? `${content.slice(0, MOST_LINE)}…` : content;
  return (
    <>
      <tr class={isMarked ? "source-marked" : undefined}>
        <td class="number soft">{number}</td>
        <td>{showUnseen(cut)}</td>
      </tr>
      {notes.map(({ note }, index) => (
        <tr key={`${index}`} class="finding">
          <td />
          <td>{note}</td>
        </tr>
      ))}
    </>
  );
}
