/** For admins: who changed or decided what, and whether the log is intact. */
import type { ApiAuditLine, ApiList } from "@metier/service/api";
import { useMemo } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Facts } from "../design/facts.tsx";
import { ChoiceField, TextField } from "../design/field.tsx";
import { Answered, Empty, FailureNotice } from "../design/notice.tsx";
import { ViewPage } from "../design/page.tsx";
import { Table } from "../design/table.tsx";
import { JsonText, showUnseen, Time } from "../design/text.tsx";
import { AuditCheck } from "../operate/audit-check.tsx";
import { type LoadedAudit, useAuditLog } from "../operate/audit-log.ts";
import { type AuditFilter, filterAudit, listActions, readAuditFilter } from "../operate/filter-audit.ts";
import { address, changeQuery, linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { countOf, formatNumber } from "../state/format.ts";

export function Audit() {
  const { earlier, ...log } = useAuditLog();
  const { query } = address.value;
  const filter = useMemo(() => readAuditFilter(query), [query]);
  const isOldestFirst = query.get("order") === "oldest";
  const shown = useMemo(() => {
    const lines = filterAudit(log.lines, filter);
    return isOldestFirst ? lines : lines.toReversed();
  }, [log.lines, filter, isOldestFirst]);
  const line = Number(query.get("line") ?? "");
  return (
    <ViewPage
      title="Audit"
      lead="Who changed or decided what. Each line has the digest of the one before, so that changes and removals show."
    >
      {log.failure && <FailureNotice failure={log.failure} />}
      <AuditCheck lines={log.lines} />
      {log.lines.length > 0 && (
        <>
          <AuditFilters lines={log.lines} filter={filter} isOldestFirst={isOldestFirst} />
          <p class="soft small" role="status">
            {countOf(shown.length, "line")} of {formatNumber(log.lines.length)} loaded
          </p>
          <AuditTable lines={shown} />
        </>
      )}
      <Rest log={log} onEarlier={earlier} />
      {Number.isInteger(line) && line > 0 && <LineDialog seq={line} />}
    </ViewPage>
  );
}

interface AuditFiltersProps {
  readonly lines: readonly ApiAuditLine[];
  readonly filter: AuditFilter;
  readonly isOldestFirst: boolean;
}

function AuditFilters({ lines, filter, isOldestFirst }: AuditFiltersProps) {
  const actions = useMemo(() => listActions(lines), [lines]);
  const chosen =
    filter.action === "" || actions.includes(filter.action) ? actions : [filter.action, ...actions];
  return (
    <search class="filters">
      <TextField
        label="Who"
        type="search"
        isSearch
        value={filter.actor}
        placeholder="A key or a user"
        onInput={(actor) => changeQuery({ actor })}
      />
      <ChoiceField
        label="Action"
        value={filter.action}
        options={[["", "Any"], ...chosen.map((action) => [action, showUnseen(action)] as const)]}
        onChange={(action) => changeQuery({ action })}
      />
      <TextField
        label="Target"
        type="search"
        value={filter.subject}
        placeholder="A run, a skill, a key"
        onInput={(subject) => changeQuery({ subject })}
      />
      <ChoiceField
        label="Order"
        value={isOldestFirst ? "oldest" : ""}
        options={[
          ["", "Newest first"],
          ["oldest", "Oldest first"],
        ]}
        onChange={(order) => changeQuery({ order })}
      />
    </search>
  );
}

function AuditTable({ lines }: { readonly lines: readonly ApiAuditLine[] }) {
  if (lines.length === 0) {
    return (
      <Empty title="No line matches this filter.">
        <Button onPress={() => changeQuery({ action: undefined, actor: undefined, subject: undefined })}>
          Show all lines
        </Button>
      </Empty>
    );
  }
  const query = Object.fromEntries(address.value.query);
  return (
    <div class={lines.length < 12 ? "run-table short" : "run-table"}>
      <Table
        label="Lines of the audit log"
        rows={lines}
        keyOf={({ seq }) => String(seq)}
        linkOf={({ seq }) => linkTo(["audit"], { ...query, line: String(seq) })}
        columns={[
          { title: "Line", width: "4rem", render: ({ seq }) => formatNumber(seq) },
          { title: "When", width: "6rem", render: ({ at }) => <Time at={at} /> },
          { title: "Action", width: "minmax(0, 1fr)", render: ({ action }) => showUnseen(action) },
          { title: "Who", width: "minmax(0, 1fr)", render: ({ actor }) => showUnseen(actor) },
          {
            title: "Target",
            width: "minmax(0, 2fr)",
            isMinor: true,
            render: ({ subject }) => showUnseen(subject),
          },
        ]}
      />
    </div>
  );
}

function Rest({
  log: { lines, isLoading, hasEarlier, failure },
  onEarlier,
}: {
  readonly log: LoadedAudit;
  onEarlier(): void;
}) {
  if (isLoading && lines.length === 0)
    return (
      <p class="soft loading" role="status">
        Loading…
      </p>
    );
  if (lines.length === 0 && failure === undefined)
    return <Empty title="Nothing has been changed or decided yet." />;
  if (!hasEarlier) return null;
  return (
    <div class="row">
      <Button isDisabled={isLoading} onPress={onEarlier}>
        Load earlier lines
      </Button>
    </div>
  );
}

/** One line in full, with its own link. */
function LineDialog({ seq }: { readonly seq: number }) {
  const path = `/v1/audit?after=${seq - 1}&limit=1`;
  const known = useAnswer<ApiList<ApiAuditLine>>(path);
  return (
    <Dialog title={`Line ${formatNumber(seq)}`} onClose={() => changeQuery({ line: undefined })}>
      <Answered known={known} path={path}>
        {({ data: [line] }) =>
          line?.seq === seq ? <LineFacts line={line} /> : <Empty title="No such line." />
        }
      </Answered>
    </Dialog>
  );
}

function LineFacts({ line }: { readonly line: ApiAuditLine }) {
  const { at, actor, action, subject, detail, previous, digest } = line;
  return (
    <>
      <Facts
        facts={[
          ["When", <Time at={at} />],
          ["Action", showUnseen(action)],
          ["Who", showUnseen(actor)],
          ["Target", showUnseen(subject)],
          ["Digest", <code>{showUnseen(digest)}</code>],
          ["Of the line before", <code>{showUnseen(previous)}</code>],
        ]}
      />
      {detail !== undefined && <JsonText value={detail} label="Details" />}
    </>
  );
}
