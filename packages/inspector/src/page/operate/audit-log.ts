/**
 * The audit log, starting with its newest lines. The API returns it oldest first, so the end of a long log is searched
 * for; then the last thousands of lines are read, and earlier ones on request. New lines appear by themselves.
 */
import type { Result } from "@metier/base/result";
import type { ApiAuditLine, ApiList } from "@metier/service/api";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, type Failure } from "../state/answers.ts";
import { findEnd } from "./find-end.ts";

const PAGE = 500;
/** Lines per request. */
const WINDOW = 5_000;
const PAUSE_MS = 5_000;

export interface LoadedAudit {
  /** Oldest first, without gaps. */
  readonly lines: readonly ApiAuditLine[];
  readonly isLoading: boolean;
  /** More lines come before the first one of these. */
  readonly hasEarlier: boolean;
  readonly failure?: Failure | undefined;
}

const NOTHING: LoadedAudit = { lines: [], isLoading: true, hasEarlier: false };

export function useAuditLog(): LoadedAudit & { earlier(): void } {
  const [log, setLog] = useState(NOTHING);
  const now = useRef(log);
  const isOpen = useRef(true);
  const show = (change: Partial<LoadedAudit>): void => {
    now.current = { ...now.current, ...change };
    if (isOpen.current) setLog(now.current);
  };
  useEffect(() => {
    void loadNewest(show);
    const timer = setInterval(() => {
      if (!document.hidden && !now.current.isLoading) void loadAdded(now.current.lines, show);
    }, PAUSE_MS);
    return () => {
      isOpen.current = false;
      clearInterval(timer);
    };
  }, []);
  return { ...log, earlier: () => void loadEarlier(now.current.lines, show) };
}

type Show = (change: Partial<LoadedAudit>) => void;

async function loadNewest(show: Show): Promise<void> {
  const start = await findEnd(async (seq) => {
    const answer = await readLines(seq, 1);
    return answer.ok && answer.value.data.length > 0;
  }, WINDOW);
  const from = Math.max(0, start - WINDOW);
  const { lines, failure } = await readAuditLines(from, Number.MAX_SAFE_INTEGER);
  show({ lines, failure, isLoading: false, hasEarlier: (lines[0]?.seq ?? 1) > 1 });
}

async function loadEarlier(known: readonly ApiAuditLine[], show: Show): Promise<void> {
  const [first] = known;
  if (first === undefined) return;
  show({ isLoading: true });
  const { lines, failure } = await readAuditLines(Math.max(0, first.seq - 1 - WINDOW), first.seq - 1);
  const isWhole = failure === undefined;
  show({
    isLoading: false,
    failure,
    ...(isWhole && { lines: [...lines, ...known], hasEarlier: (lines[0]?.seq ?? 1) > 1 }),
  });
}

async function loadAdded(known: readonly ApiAuditLine[], show: Show): Promise<void> {
  const { lines, failure } = await readAuditLines(known.at(-1)?.seq ?? 0, Number.MAX_SAFE_INTEGER);
  if (failure === undefined && lines.length > 0) show({ lines: [...known, ...lines], failure });
}

interface ReadLines {
  readonly lines: readonly ApiAuditLine[];
  readonly failure?: Failure | undefined;
}

/** The lines after `after`, up to `last`. `as`: with the names of people, or as stored. */
export async function readAuditLines(
  after: number,
  last: number,
  as: "shown" | "stored" = "shown",
): Promise<ReadLines> {
  const lines: ApiAuditLine[] = [];
  let at: string | undefined = String(after);
  while (at !== undefined) {
    const answer: Result<ApiList<ApiAuditLine>, Failure> = await readLines(at, PAGE, as);
    if (!answer.ok) return { lines, failure: answer.refusal };
    lines.push(...answer.value.data.filter(({ seq }) => seq <= last));
    at = (lines.at(-1)?.seq ?? 0) >= last ? undefined : answer.value.next;
  }
  return { lines };
}

function readLines(
  after: number | string,
  limit: number,
  as: "shown" | "stored" = "shown",
): Promise<Result<ApiList<ApiAuditLine>, Failure>> {
  return ask(`/v1/audit?after=${after}&limit=${limit}&as=${as}`);
}
