/**
 * The timeline as one bar per span, in a list for the keyboard: arrows move, Enter opens the step. Only visible rows
 * are drawn.
 */
import { useRef, useState } from "preact/hooks";
import { useWindow } from "../design/table.tsx";
import { markRedactions, showUnseen } from "../design/text.tsx";
import { address, changeQuery, goTo } from "../state/address.ts";
import { formatDuration } from "../state/format.ts";
import { buildScale, type TimeScale } from "./time-scale.ts";
import { measure, type SpanKind, type TimelineSpan } from "./timeline.ts";

const ROW = 26;
const KINDS: Readonly<Record<SpanKind, string>> = {
  model: "Model",
  tool: "Tool",
  approval: "Waiting for approval",
  parked: "Parked",
  child: "Child run",
  hook: "Hook",
  capability: "Capability",
};

interface WaterfallProps {
  readonly spans: readonly TimelineSpan[];
  readonly runId: string;
  /** For spans without an end. */
  readonly now: number;
}

export function Waterfall({ spans, runId, now }: WaterfallProps) {
  const box = useRef<HTMLDivElement>(null);
  const [cursor, setCursor] = useState(0);
  const { first, last } = useWindow(box, spans.length, ROW);
  const isWhole = address.value.query.get("clock") === "full";
  const range = measure(spans, now);
  const scale = buildScale(spans, range, now, isWhole);
  const at = Math.min(cursor, spans.length - 1);
  const open = (span: TimelineSpan | undefined): void => {
    if (!span) return;
    const step = span.step === undefined ? undefined : String(span.step);
    if (span.runId === runId) changeQuery({ step, tab: undefined }, "push");
    else goTo(["run", span.runId], { step });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = moveTo(event.key, at, spans.length);
    if (to !== undefined) {
      setCursor(to);
      keepVisible(box.current, to);
    } else if (event.key === "Enter") open(spans[at]);
    else return;
    event.preventDefault();
  };
  const kinds = [...new Set(spans.map(({ kind }) => kind))];
  return (
    <div class="waterfall stack tight">
      <WaterfallHead kinds={kinds} hasCuts={scale.cuts.length > 0} isWhole={isWhole} />
      <div
        class="spans"
        role="listbox"
        aria-label="Timeline: arrow keys move, Enter opens the step"
        aria-activedescendant={`span-${at}`}
        tabIndex={0}
        ref={box}
        onKeyDown={onKeyDown}
      >
        <div class="span-rows" role="presentation" style={{ height: `${spans.length * ROW}px` }}>
          <Cuts scale={scale} />
          {spans.slice(first, last).map((span, index) => (
            <SpanRow
              key={span.id}
              span={span}
              place={first + index}
              count={spans.length}
              isCurrent={first + index === at}
              scale={scale}
              now={now}
              start={range.from}
              onOpen={() => {
                setCursor(first + index);
                open(span);
              }}
            />
          ))}
        </div>
      </div>
      <Axis scale={scale} />
    </div>
  );
}

function WaterfallHead({
  kinds,
  hasCuts,
  isWhole,
}: {
  readonly kinds: readonly SpanKind[];
  readonly hasCuts: boolean;
  readonly isWhole: boolean;
}) {
  return (
    <div class="row legend small">
      {kinds.map((kind) => (
        <span key={kind} class={`legend-entry ${kind}`}>
          {KINDS[kind]}
        </span>
      ))}
      {(hasCuts || isWhole) && (
        <label class="check">
          <input
            type="checkbox"
            checked={!isWhole}
            onChange={(event) => changeQuery({ clock: event.currentTarget.checked ? undefined : "full" })}
          />
          Shorten waits
        </label>
      )}
    </div>
  );
}

interface SpanRowProps {
  readonly span: TimelineSpan;
  readonly place: number;
  readonly count: number;
  readonly isCurrent: boolean;
  readonly scale: TimeScale;
  readonly now: number;
  readonly start: number;
  onOpen(): void;
}

function SpanRow({ span, place, count, isCurrent, scale, now, start, onOpen }: SpanRowProps) {
  const { kind, label, begin, end, depth, isBad, step } = span;
  const from = scale.place(begin);
  const width = scale.place(end ?? now) - from;
  const length = formatDuration((end ?? now) - begin);
  const more = [
    step === undefined ? "" : `step ${step}`,
    end === undefined ? "in progress" : "",
    `at +${formatDuration(begin - start)}`,
    isBad ? "with a problem" : "",
  ].filter(Boolean);
  return (
    <div
      id={`span-${place}`}
      class={isCurrent ? "span-row at" : "span-row"}
      role="option"
      aria-selected={isCurrent}
      aria-posinset={place + 1}
      aria-setsize={count}
      title={[`${KINDS[kind]}: ${showUnseen(label)}`, length, ...more].join(" · ")}
      style={{ transform: `translateY(${place * ROW}px)` }}
      onClick={onOpen}
    >
      <span class="span-label clip" style={{ paddingLeft: `${Math.min(depth, 8) * 0.6}rem` }}>
        <span class="hidden">{KINDS[kind]}: </span>
        {isBad && (
          <span class="bad-mark" aria-hidden="true">
            !
          </span>
        )}
        {markRedactions(label.slice(0, 200))}
      </span>
      <span class="span-track">
        <span
          class={["span-bar", kind, end === undefined && "open", isBad && "bad"].filter(Boolean).join(" ")}
          style={{ left: `${from * 100}%`, width: `${Math.max(0, width) * 100}%` }}
        />
      </span>
      <span class="span-length number small soft">{length}</span>
      <span class="hidden">{more.join(", ")}</span>
    </div>
  );
}

/** Marks where time was left out. */
function Cuts({ scale }: { readonly scale: TimeScale }) {
  return (
    <div class="span-cuts" aria-hidden="true">
      {scale.cuts.map(({ from, to, ms }) => (
        <span
          key={from}
          class="span-cut"
          title={`${formatDuration(ms)} shortened`}
          style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
        />
      ))}
    </div>
  );
}

const TICKS = [0, 0.25, 0.5, 0.75, 1];

/** Without what was left out. */
function Axis({ scale }: { readonly scale: TimeScale }) {
  return (
    <div class="span-axis small soft" aria-hidden="true">
      {TICKS.map((tick) => (
        <span key={tick} style={{ left: `${tick * 100}%` }}>
          +{formatDuration(scale.worked(tick))}
        </span>
      ))}
    </div>
  );
}

const PAGE = 10;

function moveTo(key: string, at: number, count: number): number | undefined {
  const targets: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowRight: at + 1,
    j: at + 1,
    ArrowUp: at - 1,
    ArrowLeft: at - 1,
    k: at - 1,
    PageDown: at + PAGE,
    PageUp: at - PAGE,
    Home: 0,
    End: count - 1,
  };
  const target = targets[key];
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target));
}

function keepVisible(box: HTMLElement | null, row: number): void {
  if (!box) return;
  const top = row * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
}
