/** Actions for a run: cancel, run again, compare, export. */
import type { ApiList, ApiRun, ApiRunEvent, ApiRunSummary } from "@metier/service/api";
import { useState } from "preact/hooks";
import { Button, LinkButton } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { AskFirst } from "../parts/ask-first.tsx";
import { RunTable } from "../parts/run-table.tsx";
import { linkTo } from "../state/address.ts";
import { ask, isExport, may, reloadAll, useAnswer } from "../state/answers.ts";

const ENDED: ReadonlySet<string> = new Set(["completed", "limited", "failed", "refused", "cancelled"]);

export function hasEnded(run: ApiRunSummary): boolean {
  return ENDED.has(run.status);
}

interface RunActionsProps {
  readonly run: ApiRun;
  readonly events: readonly ApiRunEvent[];
  readonly childEvents: ReadonlyMap<string, readonly ApiRunEvent[]>;
  /** The request, if known. */
  readonly message: string;
}

export function RunActions({ run, events, childEvents, message }: RunActionsProps) {
  const [dialog, setDialog] = useState<"cancel" | "compare" | undefined>(undefined);
  if (isExport) return null;
  const close = (): void => setDialog(undefined);
  const path = `/v1/runs/${encodeURIComponent(run.id)}`;
  const isCancelable = !hasEnded(run) && run.origin !== "kept" && run.parent === undefined;
  return (
    <>
      {isCancelable && may("run") && (
        <Button kind="danger" isDisabled={run.isCancelled ?? false} onPress={() => setDialog("cancel")}>
          {run.isCancelled ? "Cancelling…" : "Cancel"}
        </Button>
      )}
      {run.skill !== undefined && may("run") && (
        <LinkButton href={linkTo(["playground"], { skill: run.skill, q: message })}>Run again</LinkButton>
      )}
      <Button onPress={() => setDialog("compare")}>Compare…</Button>
      <LinkButton href={`${path}/export.html`} download={`run-${run.id}.html`}>
        Export as page
      </LinkButton>
      <Button onPress={() => saveJson(run, events, childEvents)}>Export as JSON</Button>
      {dialog === "cancel" && <CancelDialog path={path} onClose={close} />}
      {dialog === "compare" && <CompareDialog run={run} onClose={close} />}
    </>
  );
}

function CancelDialog({ path, onClose }: { readonly path: string; onClose(): void }) {
  return (
    <AskFirst
      title="Cancel this run?"
      action="Cancel the run"
      leave="Let it run"
      act={() => ask(`${path}/cancel`, "POST")}
      onDone={() => reloadAll(path)}
      onClose={onClose}
    >
      <p>Its processes are stopped. Its results so far and its files stay.</p>
    </AskFirst>
  );
}

function CompareDialog({ run, onClose }: { readonly run: ApiRun; onClose(): void }) {
  const path = `/v1/runs?limit=200${run.skill === undefined ? "" : `&skill=${encodeURIComponent(run.skill)}`}`;
  const known = useAnswer<ApiList<ApiRunSummary>>(path);
  return (
    <Dialog title="Compare with another run" onClose={onClose}>
      <Answered known={known} path={path}>
        {({ data }) => {
          const others = data.filter(({ id }) => id !== run.id);
          return others.length === 0 ? (
            <Empty title="This skill has no other runs.">
              <p>Run it again, then compare the two.</p>
            </Empty>
          ) : (
            <RunTable runs={others} linkOf={({ id }) => linkTo(["compare", run.id, id])} isShort />
          );
        }}
      </Answered>
    </Dialog>
  );
}

function saveJson(
  run: ApiRun,
  events: readonly ApiRunEvent[],
  childEvents: ReadonlyMap<string, readonly ApiRunEvent[]>,
): void {
  const children = Object.fromEntries(childEvents);
  const text = JSON.stringify({ run, events, children }, null, 2);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = `run-${run.id}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
