/** Skills as rows: handles thousands of them, and each says why it can't be used. */
import type { ApiCatalogSkill } from "@metier/service/api";
import { Badge, StatusBadge } from "../design/badge.tsx";
import { type Column, Table } from "../design/table.tsx";
import { Message, showUnseen } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { countOf, formatTokens } from "../state/format.ts";

const COLUMNS: readonly Column<ApiCatalogSkill>[] = [
  { title: "Skill", width: "minmax(0, 1.7fr)", render: ({ name }) => showUnseen(name) },
  {
    title: "Status",
    width: "6.5rem",
    render: ({ status, reason }) => (
      <>
        <StatusBadge status={status} title={reason} />
        {reason && <span class="hidden">: {showUnseen(reason)}</span>}
      </>
    ),
  },
  { title: "About", width: "minmax(0, 3.2fr)", isMinor: true, render: (skill) => <About skill={skill} /> },
  {
    title: "Trust",
    width: "5.5rem",
    isMinor: true,
    render: ({ trust, trustReason }) => (
      <span title={trustReason} class={trust === "trusted" ? "" : "catalog-untrusted"}>
        {trust}
      </span>
    ),
  },
  { title: "Scope", width: "5rem", isMinor: true, render: ({ scope }) => showUnseen(scope) },
  {
    title: "Tokens",
    width: "6.5rem",
    isNumber: true,
    isMinor: true,
    render: ({ listingTokens, bodyTokens }) => (
      <span
        title={`${countOf(listingTokens, "token")} in the listing, ${countOf(bodyTokens, "token")} when it is used`}
      >
        {formatTokens(listingTokens)} + {formatTokens(bodyTokens)}
      </span>
    ),
  },
  {
    title: "Problems",
    width: "6rem",
    render: ({ errors, warnings }) => <ProblemCount errors={errors} warnings={warnings} />,
  },
];

/** Why it can't be used matters more than what it would do. */
function About({ skill: { status, reason, description } }: { readonly skill: ApiCatalogSkill }) {
  return (
    <span title={showUnseen(reason ? `${reason}\n\n${description}` : description)}>
      {status !== "enabled" && reason && (
        <span class="catalog-reason">
          <Message text={reason} />{" "}
        </span>
      )}
      <span class="soft">{showUnseen(description)}</span>
    </span>
  );
}

function ProblemCount({ errors, warnings }: Pick<ApiCatalogSkill, "errors" | "warnings">) {
  if (errors === 0 && warnings === 0) return <span class="soft">–</span>;
  const title = `${countOf(errors, "error")}, ${countOf(warnings, "warning")}`;
  return (
    <Badge tone={errors > 0 ? "bad" : "warn"} title={title}>
      {errors > 0 ? countOf(errors, "error") : countOf(warnings, "warning")}
    </Badge>
  );
}

export function SkillTable({ skills }: { readonly skills: readonly ApiCatalogSkill[] }) {
  return (
    <div class="catalog-table">
      <Table
        label="Skills"
        rows={skills}
        columns={COLUMNS}
        keyOf={({ address }) => address}
        linkOf={({ address }) => linkTo(["skill", address])}
      />
    </div>
  );
}
