/** Times, code and JSON. Untrusted text is shown as text: nothing here turns it into markup. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { formatRelative, formatTime } from "../state/format.ts";
import { splitRedactions } from "../state/redactions.ts";
import { Button } from "./button.tsx";

const MINUTE_MS = 30_000;
/** Ticks, so that "5 min. ago" stays true. */
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, MINUTE_MS);

/** Relative, with the exact time on hover and for screen readers. */
export function Time({ at }: { readonly at: string | undefined }) {
  const time = at === undefined ? Number.NaN : Date.parse(at);
  if (Number.isNaN(time)) return <span class="soft">–</span>;
  return (
    <time dateTime={at} title={formatTime(time)}>
      {formatRelative(time, Math.max(now.value, time > Date.now() ? 0 : Date.now()))}
    </time>
  );
}

/**
 * Text direction marks and other invisible characters can make a text look like another, so they are shown by number.
 * Line breaks and tabs stay.
 */
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function showUnseen(text: string): string {
  return text.replace(
    UNSEEN,
    (mark) => `⟨U+${(mark.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

/** A name that others chose, of any length: its start, and all of it on hover. */
export function GivenName({ text }: { readonly text: string }) {
  const shown = showUnseen(text);
  return (
    <span class="given-name" title={shown}>
      {shown}
    </span>
  );
}

/** A text of a run: a removed secret shows as a mark with its name. */
export function markRedactions(text: string): ComponentChildren {
  const parts = splitRedactions(text);
  if (!parts.some(({ redacted }) => redacted !== undefined)) return showUnseen(text);
  return parts.map(({ text: part, redacted }, index) =>
    redacted === undefined ? (
      showUnseen(part)
    ) : (
      <mark
        key={`${index}`}
        class="redaction"
        title="A secret was here. It was removed before anything was stored."
      >
        redacted: {redacted}
      </mark>
    ),
  );
}

/** Longer texts are cut until the reader asks for the rest: a line of a megabyte must not freeze the page. */
const MOST = 20_000;

interface CodeProps {
  readonly text: string;
  /** Lines wrap instead of scrolling. */
  readonly isWrapped?: boolean;
  readonly label?: string;
}

export function Code({ text, isWrapped = true, label }: CodeProps) {
  const [isWhole, setWhole] = useState(false);
  const shown = markRedactions(isWhole ? text : text.slice(0, MOST));
  return (
    <div class="code">
      <pre class={isWrapped ? "wrapped" : "scrolls"} tabIndex={0} role="region" aria-label={label ?? "Text"}>
        {shown}
      </pre>
      <div class="code-tools">
        {text.length > MOST && !isWhole && (
          <Button kind="quiet" onPress={() => setWhole(true)}>
            Show all {Math.ceil(text.length / 1024)} KB
          </Button>
        )}
        <CopyButton text={text} />
      </div>
    </div>
  );
}

export function CopyButton({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) {
  const [isDone, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard?.writeText(text).then(
      () => setDone(true),
      () => undefined,
    );
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <Button kind="quiet" onPress={() => void copy()}>
      {isDone ? "Copied" : label}
    </Button>
  );
}

export function JsonText({ value, label }: { readonly value: unknown; readonly label?: string }) {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  return <Code text={text} {...(label !== undefined && { label })} />;
}

/** Shows text between backticks in Metier's own messages as code. */
export function Message({ text }: { readonly text: string }) {
  const parts = text.split(/`([^`]+)`/);
  return (
    <>
      {parts.map((part, index) =>
        index % 2 === 1 ? <code key={`${index}`}>{showUnseen(part)}</code> : showUnseen(part),
      )}
    </>
  );
}
