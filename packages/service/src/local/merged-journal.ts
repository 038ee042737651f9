/**
 * What one person sees of their home: this process's runs, which it can start, answer and cancel; the durable runs in
 * the service's folder; and the runs kept in files. The last two belong to other processes and are only read, even
 * while in progress.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type DurableRun,
  type DurableRunFilter,
  type JournalStore,
  type Question,
  TERMINAL_TENANT,
} from "@metier/durable";
import { readLocal } from "@metier/durable/local";
import { DEFAULT_TENANT } from "../keys/identity.ts";
import { markAsSeen } from "../runs/seen-runs.ts";
import type { RunElsewhere, ServiceContext } from "../service-context.ts";
import type { KeptJournal } from "./kept-journal.ts";

type SqliteReader = Extract<Awaited<ReturnType<typeof readLocal>>, { readonly ok: true }>["value"];

interface MergedParts {
  /** Of this process. Closed by whoever opened it. */
  readonly own: JournalStore;
  readonly kept: KeptJournal;
  readonly durable: DurableReader;
}

/** The journal in a service's folder, as soon as there is one. */
export interface DurableReader {
  open(): Promise<SqliteReader["journal"] | undefined>;
  close(): void;
}

export function openDurableReader(folder: string): DurableReader {
  let opened: Promise<SqliteReader | undefined> | undefined;
  const open = async (): Promise<SqliteReader | undefined> => {
    const reader = await readLocal({ folder });
    return reader.ok ? reader.value : undefined; // An unreadable journal shows nothing: `metier runs` says why.
  };
  return {
    async open() {
      if (opened === undefined && !existsSync(join(folder, "journal.db"))) return undefined;
      opened ??= open();
      return (await opened)?.journal;
    },
    close() {
      void opened?.then((reader) => reader?.close());
    },
  };
}

export function mergeJournals({ own, kept, durable }: MergedParts): {
  readonly journal: JournalStore;
  readonly findOwner: ServiceContext["findOwner"];
} {
  const seenRun = async (runId: string): Promise<DurableRun | undefined> => {
    const run = await (await durable.open())?.get(runId);
    return run ? markAsSeen(run) : kept.get(runId);
  };
  const isOwn = async (runId: string): Promise<boolean> => (await own.get(runId)) !== undefined;
  const journal: JournalStore = {
    ...own,
    get: async (runId) => (await own.get(runId)) ?? (await seenRun(runId)),
    list: (filter) => (isForWork(filter) ? own.list(filter) : listAll({ own, kept, durable }, filter)),
    async entries(runId) {
      if (await isOwn(runId)) return own.entries(runId);
      return (await (await durable.open())?.entries(runId)) ?? [];
    },
    async events(runId, after, limit) {
      if (await isOwn(runId)) return own.events(runId, after, limit);
      const reader = await durable.open();
      const isDurable = (await reader?.get(runId)) !== undefined;
      if (reader && isDurable) return reader.events(runId, after, limit);
      return kept.events(runId, after, limit);
    },
    async question(id) {
      const seen = async () => (await durable.open())?.question(id);
      return (await own.question(id)) ?? toSeen(await seen());
    },
    async questions(filter) {
      if (isForWork(filter)) return own.questions(filter);
      const { after, limit, ...wanted } = filter;
      const reader = await durable.open();
      const isBehindSeen = after !== undefined && (await own.question(after)) !== undefined;
      const seen = isBehindSeen
        ? []
        : ((await reader?.questions({ ...wanted, tenant: undefined, after, limit })) ?? []);
      const rest = limit - seen.length;
      const mine =
        rest > 0
          ? await own.questions({ ...wanted, after: isBehindSeen ? after : undefined, limit: rest })
          : [];
      return [...seen.map((question) => ({ ...question, tenant: DEFAULT_TENANT })), ...mine];
    },
  };
  const findOwner: ServiceContext["findOwner"] = async (runId) => {
    if (await isOwn(runId)) return undefined;
    const run = await (await durable.open())?.get(runId);
    return describeOwner(runId, run);
  };
  return { journal, findOwner };
}

/** Showing runs is for one tenant; going through all of them means continuing them. */
function isForWork({ tenant }: { readonly tenant?: string | undefined }): boolean {
  return tenant === undefined;
}

function toSeen(question: Question | undefined): Question | undefined {
  return question && { ...question, tenant: DEFAULT_TENANT };
}

function describeOwner(runId: string, run: DurableRun | undefined): RunElsewhere {
  if (run === undefined) {
    return {
      message: `Run \`${runId}\` belongs to the terminal or program that started it; the inspector can only show it.`,
      hint: "Answer or stop it there. In a terminal, press Ctrl-C to stop.",
    };
  }
  if (run.tenant === TERMINAL_TENANT) {
    return {
      message: `Run \`${runId}\` was started with \`metier run --durable\`; the inspector can only show it.`,
      hint: `Resume it in a terminal: \`metier runs resume ${run.rootId}\`.`,
    };
  }
  return {
    message: `Run \`${runId}\` belongs to \`metier serve\`; this inspector can only show it.`,
    hint: "Open that service's address and sign in with a key, or send the answer to its API.",
  };
}

const PAGE = 200;
const TURN_EVERY = 100;

/** Newest first: run ids start with their creation time. */
async function listAll(
  { own, kept, durable }: MergedParts,
  { limit, tenant: _, ...filter }: DurableRunFilter,
): Promise<readonly DurableRun[]> {
  const reader = await durable.open();
  const keptRuns = kept.list(filter)[Symbol.iterator]();
  const sources: readonly (() => Promise<DurableRun | undefined>)[] = [
    openPages(own, filter),
    ...(reader ? [openPages(reader, filter, markAsSeen)] : []),
    async () => nextKept(keptRuns, { own, reader }),
  ];
  const heads = await Promise.all(sources.map((next) => next()));
  const found: DurableRun[] = [];
  while (found.length < limit) {
    const newest = heads.reduce<string | undefined>(
      (id, run) => (run !== undefined && (id === undefined || run.id > id) ? run.id : id),
      undefined,
    );
    if (newest === undefined) break;
    const run = heads.find((head) => head?.id === newest);
    if (run) found.push(run);
    for (const [index, next] of sources.entries()) {
      if (heads[index]?.id === newest) heads[index] = await next();
    }
  }
  return found;
}

/** What a database knows better isn't taken from a file. */
async function nextKept(
  runs: Iterator<DurableRun>,
  { own, reader }: { readonly own: JournalStore; readonly reader?: SqliteReader["journal"] | undefined },
): Promise<DurableRun | undefined> {
  for (let count = 1; ; count += 1) {
    if (count % TURN_EVERY === 0) await nextTurn(); // Thousands of logs must not block a page.
    const { value, done } = runs.next();
    if (done) return undefined;
    const run = value as DurableRun;
    if ((await own.get(run.id)) === undefined && (await reader?.get(run.id)) === undefined) return run;
  }
}

/** One run after another, from pages; `before` may be a run that this journal doesn't have. */
function openPages(
  journal: Pick<JournalStore, "list" | "get">,
  { before, ...filter }: Omit<DurableRunFilter, "limit" | "tenant">,
  show: (run: DurableRun) => DurableRun = (run) => run,
): () => Promise<DurableRun | undefined> {
  let page: DurableRun[] = [];
  let cursor: string | undefined;
  let isStarted = false;
  let isLast = false;
  return async () => {
    if (!isStarted) {
      isStarted = true;
      cursor = before !== undefined && (await journal.get(before)) !== undefined ? before : undefined;
    }
    while (page.length === 0 && !isLast) {
      const more = await journal.list({ ...filter, before: cursor, limit: PAGE });
      isLast = more.length < PAGE;
      cursor = more.at(-1)?.id;
      page = more.filter(({ id }) => before === undefined || id < before);
    }
    const run = page.shift();
    return run && show(run);
  };
}
