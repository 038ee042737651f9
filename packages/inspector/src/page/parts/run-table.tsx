/** Runs as a list of any length: name, status, time, duration, tokens, cost. */
import type { ApiRunSummary } from "@metier/service/api";
import { StatusBadge } from "../design/badge.tsx";
import { type Column, Table } from "../design/table.tsx";
import { showUnseen, Time } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { formatCost, formatDuration, formatTokens, shortId } from "../state/format.ts";

interface RunTableProps {
  readonly runs: readonly ApiRunSummary[];
  /** The link of a row. Default: the run. */
  linkOf?(run: ApiRunSummary): string;
  /** Few columns, for little room. */
  readonly isShort?: boolean;
}

export function RunTable({ runs, linkOf = linkToRun, isShort = false }: RunTableProps) {
  return (
    <div class={isShort || runs.length < 12 ? "run-table short" : "run-table"}>
      <Table
        label="Runs"
        rows={runs}
        columns={isShort ? SHORT : COLUMNS}
        keyOf={({ id }) => id}
        linkOf={linkOf}
      />
    </div>
  );
}

function linkToRun({ id }: ApiRunSummary): string {
  return linkTo(["run", id]);
}

const NAME: Column<ApiRunSummary> = {
  title: "Run",
  width: "minmax(0, 2fr)",
  render: ({ skill, agent, id }) => (
    <>
      {showUnseen(skill ?? agent ?? "Conversation")} <code class="soft">{shortId(id, 8)}</code>
    </>
  ),
};

const STATUS: Column<ApiRunSummary> = {
  title: "Status",
  width: "7rem",
  render: ({ status, isCancelled }) => (
    <StatusBadge status={status} title={isCancelled ? "Cancelling…" : undefined} />
  ),
};

const BEGAN: Column<ApiRunSummary> = {
  title: "Started",
  width: "7rem",
  render: ({ createdAt }) => <Time at={createdAt} />,
};

const COST: Column<ApiRunSummary> = {
  title: "Cost",
  width: "5rem",
  isNumber: true,
  render: ({ cost }) => formatCost(cost),
};

const SHORT: readonly Column<ApiRunSummary>[] = [NAME, STATUS, BEGAN, { ...COST, isMinor: true }];

const COLUMNS: readonly Column<ApiRunSummary>[] = [
  NAME,
  STATUS,
  BEGAN,
  {
    title: "Worked",
    width: "6rem",
    isNumber: true,
    isMinor: true,
    render: ({ activeMs }) => formatDuration(activeMs),
  },
  {
    title: "Tokens",
    width: "5rem",
    isNumber: true,
    isMinor: true,
    render: ({ usage }) => (usage ? formatTokens(usage.totalTokens) : "–"),
  },
  { ...COST, isMinor: true },
  { title: "Agent", width: "minmax(0, 1fr)", isMinor: true, render: ({ agent }) => showUnseen(agent ?? "–") },
  { title: "For", width: "minmax(0, 1fr)", isMinor: true, render: ({ userId }) => showUnseen(userId ?? "–") },
];
