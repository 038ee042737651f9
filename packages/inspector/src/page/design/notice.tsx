/** Messages in a box: faults, empty states and loading. */
import type { ComponentChildren } from "preact";
import { type Failure, type Known, reload } from "../state/answers.ts";
import { Button } from "./button.tsx";
import { Message } from "./text.tsx";

interface NoticeProps {
  readonly tone?: "plain" | "warn" | "bad" | "good";
  readonly title: string;
  readonly children?: ComponentChildren;
}

export function Notice({ tone = "plain", title, children }: NoticeProps) {
  return (
    <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : undefined}>
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}

/** An empty state: why nothing is here, and what to do. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <p>
        <strong>{title}</strong>
      </p>
      {children}
    </div>
  );
}

export function FailureNotice({
  failure,
  path,
}: {
  readonly failure: Failure;
  readonly path?: string | undefined;
}) {
  return (
    <Notice tone="bad" title={failure.message}>
      {failure.hint && (
        <p>
          <Message text={failure.hint} />
        </p>
      )}
      {path !== undefined && (
        <div class="row">
          <Button onPress={() => void reload(path)}>Try again</Button>
          <span class="soft small">{failure.code}</span>
        </div>
      )}
    </Notice>
  );
}

interface AnsweredProps<Value> {
  readonly known: Known<Value>;
  readonly path: string;
  readonly children: (value: Value) => ComponentChildren;
}

/** Shows an answer, or that it is loading, or why there is none. */
export function Answered<Value>({ known, path, children }: AnsweredProps<Value>) {
  const { value, failure, isLoading } = known;
  if (value !== undefined) return <>{children(value)}</>;
  if (failure) return <FailureNotice failure={failure} path={path} />;
  return (
    <p class="soft loading" role="status">
      {isLoading ? "Loading…" : ""}
    </p>
  );
}
