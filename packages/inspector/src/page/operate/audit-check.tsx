/** Whether the loaded lines are as they were written: linked to each other, each with its own digest. */
import type { ApiAuditLine } from "@metier/service/api";
import { useMemo, useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { FailureNotice, Notice } from "../design/notice.tsx";
import { type Failure, me } from "../state/answers.ts";
import { countOf, formatNumber } from "../state/format.ts";
import { type CheckedChain, checkChain } from "./audit-chain.ts";
import { canCompute, findChanged } from "./audit-digests.ts";
import { readAuditLines } from "./audit-log.ts";

export function AuditCheck({ lines }: { readonly lines: readonly ApiAuditLine[] }) {
  const chain = useMemo(() => checkChain(lines), [lines]);
  if (chain === undefined) return null;
  const { from, brokenAt } = chain;
  if (brokenAt !== undefined) {
    return (
      <Notice tone="bad" title={`The log is broken at line ${formatNumber(brokenAt)}.`}>
        <p>
          This line doesn't follow the one before it: lines between them were removed, or one was changed.
        </p>
        <WhatToDo />
      </Notice>
    );
  }
  return (
    <Notice
      tone="good"
      title={from === 1 ? "The log is intact." : "The log is intact as far as it is loaded."}
    >
      <p>{reachOf(chain)} checked: each names the digest of the line before it.</p>
      {canCompute && <Digests chain={chain} />}
    </Notice>
  );
}

function reachOf({ from, to }: CheckedChain): string {
  return from === 1 ? `All ${countOf(to, "line")}` : `Lines ${formatNumber(from)} to ${formatNumber(to)}`;
}

function WhatToDo() {
  return <p>Compare the log with a backup, and find out who can write to this service's store.</p>;
}

type Outcome = {
  readonly chain: CheckedChain;
  readonly changed?: number | undefined;
  readonly failure?: Failure | undefined;
};

/** Started on request: it reads all lines again, as stored. */
function Digests({ chain }: { readonly chain: CheckedChain }) {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | undefined>(undefined);
  const compute = async (): Promise<void> => {
    setBusy(true);
    const { lines, failure } = await readAuditLines(chain.from - 1, chain.to, "stored");
    const changed = await findChanged(me.value?.tenant ?? "", lines);
    setOutcome({ chain, changed, failure });
    setBusy(false);
  };
  return (
    <>
      {outcome && <DigestOutcome outcome={outcome} />}
      <div class="row">
        <Button isDisabled={isBusy} onPress={() => void compute()}>
          {isBusy ? "Computing…" : "Recompute the digests"}
        </Button>
      </div>
    </>
  );
}

function DigestOutcome({ outcome: { chain, changed, failure } }: { readonly outcome: Outcome }) {
  if (failure) return <FailureNotice failure={failure} />;
  if (changed === undefined)
    return <p role="status">The digests of {reachOf(chain).toLowerCase()} match their contents.</p>;
  return (
    <Notice tone="bad" title={`Line ${formatNumber(changed)} was changed.`}>
      <p>Its digest no longer matches its contents.</p>
      <WhatToDo />
    </Notice>
  );
}
