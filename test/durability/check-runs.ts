/** What a run of the durability suite left: its journal, its events, its work folder, and what it did outside. */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { DurableRun } from "@metier/durable";
import type { RunEvent, TokenUsage } from "@metier/run/events";
import { readLedger } from "./ledger-provider.ts";
import type { Left } from "./places.ts";
import { changesOf, FOLDERS, type Kind, readPlan, stepsOf } from "./plans.ts";

export interface Told {
  calls: number;
  /** Calls of which the model was told that nobody knows what they did. */
  unknown: number;
  /** Changes by capabilities that a person was asked about. */
  confirmed: number;
  /** How often a run was taken up by another process. */
  resumed: number;
}

type Complain = (what: string) => void;

export async function checkRun(
  root: string,
  { journal, folderOf }: Left,
  run: DurableRun,
  told: Told,
): Promise<string[]> {
  const faults: string[] = [];
  const { message } = run.order;
  const { kind, number } = readPlan(typeof message === "string" ? message : `PLAN ${run.skill} 0`);
  const complain = (what: string): void => void faults.push(`${run.id} (${kind} ${number}): ${what}`);
  if (run.status !== "completed") complain(`is ${run.status}: ${sayError(run.result)}`);
  const stored = await journal.events(run.id, 0, 100_000);
  if (stored.some(({ seq }, at) => seq !== at + 1)) complain("its events are not numbered without a gap");
  const events = stored.map(({ event }) => event as unknown as RunEvent);
  const count = (type: RunEvent["type"]): number => events.filter((event) => event.type === type).length;
  if (count("run-started") !== 1) complain(`began ${count("run-started")} times`);
  if (count("run-finished") !== 1) complain(`ended ${count("run-finished")} times`);
  if (count("model-answered") !== stepsOf(kind)) complain(`has ${count("model-answered")} answers`);
  told.resumed += count("run-resumed");
  told.confirmed += events.filter((event) => event.type === "approval-answered" && event.kind).length;
  checkCalls(events, kind, complain, told);
  if (run.result !== undefined) checkUsage(run, events, complain);
  const folder = readFolder(await folderOf(run));
  if (kind === "caller") checkLedger(root, number, events, folder["log.txt"] ?? "", complain);
  else if (JSON.stringify(folder) !== JSON.stringify(FOLDERS[kind])) {
    complain(`its folder has ${JSON.stringify(folder)}`);
  }
  return faults;
}

function sayError(result: DurableRun["result"]): string {
  const { error } = (result ?? {}) as { readonly error?: unknown };
  return JSON.stringify(error ?? result ?? "no result").slice(0, 400);
}

function checkCalls(events: readonly RunEvent[], kind: Kind, complain: Complain, told: Told): void {
  const ended = events.filter((event) => event.type === "tool-finished");
  const names = ended.map(nameOf);
  if (new Set(names).size !== names.length) complain("a call ended twice");
  told.calls += ended.length;
  const inputs = new Map(
    events.flatMap((event) => (event.type === "tool-called" ? [[nameOf(event), event.input]] : [])),
  );
  for (const call of ended) {
    const { tool, isError, text } = call;
    if (!isError) continue;
    // What is idempotent is repeated under its key: nobody has to be told that its outcome is unknown.
    const mayBeUnknown = JSON.stringify(inputs.get(nameOf(call)) ?? "-o add").includes("-o add");
    if (kind === "caller" && isUnknown(text) && mayBeUnknown) told.unknown += 1;
    else complain(`${tool} failed: ${text.slice(0, 300)}`);
  }
}

function nameOf({ step, callId }: { readonly step: number; readonly callId: string }): string {
  return `${step} ${callId}`;
}

function isUnknown(text: string): boolean {
  return /^The outcome of this `bash` call is unknown|capability_outcome_unknown/.test(text);
}

/** What was told to be done was done, once; of the rest it was said that nobody knows, and it was done once or never. */
function checkLedger(
  root: string,
  number: number,
  events: readonly RunEvent[],
  log: string,
  complain: Complain,
): void {
  const lines = readLedger(root);
  const ended = events.filter((event) => event.type === "tool-finished");
  const noted = log.replace(/^644 /, "").split("\n").filter(Boolean);
  const succeeded = ended.filter(({ isError }) => !isError).length;
  if (noted.length !== succeeded)
    complain(`${succeeded} calls succeeded, and its folder says ${noted.join(", ")}`);
  for (const line of changesOf(number)) {
    const times = lines.filter((other) => other === line).length;
    if (times > 1) complain(`\`${line}\` happened ${times} times`);
    if (times === 0 && noted.includes(line)) complain(`\`${line}\` is said to be done, and is not`);
  }
}

/** The budget counts each answer once, those of the runs it started included. */
function checkUsage({ result }: DurableRun, events: readonly RunEvent[], complain: Complain): void {
  const { usage } = result as unknown as { readonly usage: TokenUsage };
  const own = events.flatMap((event) => (event.type === "model-answered" ? [event.usage.totalTokens] : []));
  const sum = own.reduce((all, tokens) => all + tokens, 0);
  const hasChildren = events.some(({ type }) => type === "child-started");
  if (hasChildren ? usage.totalTokens <= sum : usage.totalTokens !== sum) {
    complain(`used ${usage.totalTokens} tokens, and its answers say ${sum}`);
  }
}

function readFolder(folder: string, under = ""): Readonly<Record<string, string>> {
  const found: [string, string][] = [];
  for (const name of existsSync(folder) ? readdirSync(folder).sort() : []) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    const inside = `${under}${name}`;
    if (stats.isSymbolicLink()) found.push([inside, `link to ${readlinkSync(path)}`]);
    else if (stats.isDirectory())
      found.push([inside, "folder"], ...Object.entries(readFolder(path, `${inside}/`)));
    else found.push([inside, `${(stats.mode & 0o777).toString(8)} ${readText(path, name)}`]);
  }
  return Object.fromEntries(found);
}

/** Calls of one step may write their lines in any order. */
function readText(path: string, name: string): string {
  const text = readFileSync(path, "utf8");
  return name === "log.txt" ? `${text.trimEnd().split("\n").sort().join("\n")}\n` : text;
}
