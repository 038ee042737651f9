/**
 * How durable runs of the command line are recorded: the order of any durable run, plus where it was started, so that
 * a later command sees the same folders, skills and configuration.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { MetierError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { metierPlaces } from "@metier/base/places";
import { choiceShape, fitShape, listShape, recordShape, textShape } from "@metier/base/shape";
import type { DurableRun } from "@metier/durable";
import type { LocalReader } from "@metier/durable/local";
import type { LocalState } from "@metier/durable/sqlite";
import { PROFILES, type Profile } from "@metier/skills";
import { PRESETS } from "@metier/skills/config";
import type { CommonFlags } from "../commands/define.ts";
import { type CliContext, err } from "../context.ts";
import { homeFolder } from "../open-metier.ts";

/** Where a run was started. All paths are absolute. */
export interface TerminalPlace {
  readonly cwd: string;
  readonly config?: string | undefined;
  readonly preset?: (typeof PRESETS)[number] | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly profile?: Profile | undefined;
  /** `--out`. */
  readonly out?: string | undefined;
}

const placeShape = recordShape<TerminalPlace>(
  {
    cwd: textShape,
    config: textShape,
    preset: choiceShape(...PRESETS),
    paths: listShape(textShape),
    profile: choiceShape(...PROFILES),
    out: textShape,
  },
  ["config", "preset", "paths", "profile", "out"],
);

/** `undefined` if another version wrote it. */
export function readTerminalPlace({ order }: Pick<DurableRun, "order">): TerminalPlace | undefined {
  return fitShape(placeShape, order.terminal);
}

/** The folder for journal, snapshots and keys, shared with `metier serve`. */
export function durableFolder(context: CliContext, flags: CommonFlags): string {
  return join(metierPlaces(homeFolder(context, flags), context.io.environment).state, "service");
}

/**
 * Reads the journal next to the process that writes it. Returns nothing, and loads nothing, if no run was ever
 * durable.
 */
export async function readDurableRuns<Found>(
  context: CliContext,
  flags: CommonFlags,
  look: (journal: LocalReader["journal"], isClaimed: boolean) => Promise<Found>,
): Promise<Found | undefined> {
  const folder = durableFolder(context, flags);
  if (!existsSync(join(folder, "journal.db"))) return undefined;
  const { readLocal } = await import("@metier/durable/local");
  const reader = await readLocal({ folder });
  if (!reader.ok) {
    if (!flags.json) err(context, `Can't read durable runs: ${reader.refusal.message}`);
    return undefined;
  }
  try {
    return await look(reader.value.journal, reader.value.isClaimed);
  } finally {
    reader.value.close();
  }
}

/** For one run alone. Throws if another process holds the folder, SQLite is missing, or the key can't be used. */
export async function openDurably(
  context: CliContext,
  flags: CommonFlags,
  runId: string,
): Promise<LocalState> {
  const folder = durableFolder(context, flags);
  const { openLocal } = await import("@metier/durable/sqlite");
  const opened = await openLocal({ folder, environment: context.io.environment, only: runId });
  if (opened.ok) {
    await removeOld(opened.value);
    return opened.value;
  }
  const { message, hint } = opened.refusal;
  throw new MetierError("durable.unavailable", message, presentFields({ hint }));
}

/** As long as other runs are kept. */
const KEEP_MS = 30 * 86_400_000;

/** Without a service, nobody else does it. */
async function removeOld(local: LocalState): Promise<void> {
  if ((await local.journal.purge(Date.now() - KEEP_MS)) > 0) await removeUnneeded(local);
}

/** A service keeps more than runs in the folder: the contents of its skills. */
export async function removeUnneeded(local: LocalState): Promise<void> {
  const { collectSnapshots } = await import("@metier/service");
  await collectSnapshots(local);
}
