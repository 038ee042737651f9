/**
 * `metier init`: lists the user's models, lets them choose one, tests it with one short call and writes it to their
 * config as `[models.default]`. Replaces an existing default only when asked to.
 */
import { CancelledError, EXIT } from "@metier/base/errors";
import { expandPath } from "@metier/base/places";
import { safeLine, toCamelCase } from "@metier/base/text";
import type { TriedModel } from "@metier/run/engine";
import type { ModelFindings, ModelOffer } from "@metier/run/model";
import type { Metier } from "@metier/runtime";
import { type Config, type ModelConfig, setConfigTable } from "@metier/skills/config";
import type { Action } from "../commands/define.ts";
import type { InitFlags } from "../commands/doing.ts";
import { askWord, type CliContext, endWith, err, out, outJson, withInterrupt } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { notesText, nothingText, offersText } from "../output/models-text.ts";
import { styleFor } from "../output/style.ts";

const NEXT = "metier chat";
const PATH = ["models", "default"];

interface InitWork {
  readonly context: CliContext;
  readonly flags: InitFlags;
  readonly metier: Metier;
  readonly findings: ModelFindings;
  readonly offers: readonly ModelOffer[];
}

/** What `--json` prints. */
interface InitReport {
  readonly chosen?: string;
  readonly test?: { readonly ok: boolean; readonly answer?: string; readonly reason?: string };
  readonly kept?: string;
  readonly written: boolean;
}

export const initAction: Action<InitFlags, [path?: string]> = async (context, flags, path) => {
  const metier = await openMetier(context, flags, { autoDiscover: false });
  const { findModels, listModelOffers } = await import("@metier/run/model");
  const { environment } = context.io;
  const { home } = metier.places;
  const ggufPath = path === undefined ? undefined : expandPath(path, home, workingDirectory(context, flags));
  const { models } = metier.config.config;
  const search = { environment, project: metier.project.root, home, ggufPath, models };
  const findings = await withInterrupt(context, (signal) => findModels({ ...search, signal }));
  const work = { context, flags, metier, findings, offers: listModelOffers(findings) };
  showFindings(work);
  const report = await decide(work);
  if (!flags.json) return;
  const { file } = target(metier);
  outJson(context, { findings, offers: work.offers, ...report, file, next: report.written ? NEXT : null });
};

function showFindings({ context, flags, findings, offers }: InitWork): void {
  if (flags.json) return;
  const style = styleFor(context.io.color);
  out(context, offers.length > 0 ? offersText(offers, style) : nothingText(findings));
  const notes = notesText(findings);
  if (notes !== "") out(context, `\n${notes}`);
}

async function decide(work: InitWork): Promise<InitReport> {
  const { context, flags, metier, offers } = work;
  const current = metier.config.config.models.default;
  const canAsk = context.io.interactive && !flags.json && !flags.yes;
  if (current !== undefined && !flags.replace) {
    const isReplaced = canAsk && offers.length > 0 && (await askToReplace(work, current));
    if (!isReplaced) return keepCurrent(work, current);
  }
  if (offers.length === 0) {
    endWith(context, EXIT.prerequisite);
    return { written: false };
  }
  if (canAsk) return askAndTry(work);
  return flags.yes ? takeBest(work) : wouldWrite(work);
}

async function askToReplace({ context }: InitWork, current: ModelConfig): Promise<boolean> {
  out(context, `\nYour default model is ${showModel(current)}.`);
  const answer = await askWord(context, "Replace it? [y/N] ");
  return answer === "y" || answer === "yes";
}

/** Tests the configured model instead. */
async function keepCurrent(work: InitWork, current: ModelConfig): Promise<InitReport> {
  const { context, flags, metier } = work;
  const test = await testModel(work, metier.config.config, showModel(current));
  if (!test.ok) endWith(context, EXIT.prerequisite);
  if (!flags.json) {
    out(context, `\nKept ${showModel(current)} as your default model. Use \`--replace\` to choose another.`);
    if (test.ok) out(context, `\nNext: ${NEXT}`);
  }
  return { kept: showModel(current), test, written: false };
}

async function askAndTry(work: InitWork): Promise<InitReport> {
  const { context, offers } = work;
  for (;;) {
    const offer = await askWhich(context, offers);
    if (offer === undefined) {
      out(context, "Nothing was written.");
      endWith(context, EXIT.no);
      return { written: false };
    }
    const agreed = await agree(context, offer);
    if (agreed === undefined) continue;
    const test = await testModel(work, withDefault(work.metier, agreed), agreed.id);
    if (test.ok) return write(work, agreed, test);
    out(context, "");
  }
}

/** `undefined`: none. */
async function askWhich(context: CliContext, offers: readonly ModelOffer[]): Promise<ModelOffer | undefined> {
  for (;;) {
    const typed = await askWord(context, "\nWhich one should Metier use? Number, or q to quit [1]: ");
    if (["q", "quit", "n", "no", "none"].includes(typed)) return undefined;
    const number = typed === "" ? 1 : Number(typed);
    const offer = Number.isInteger(number) && number > 0 ? offers[number - 1] : undefined;
    if (offer) return offer;
    out(context, `Type a number from 1 to ${offers.length}, or q.`);
  }
}

/** Only the typed word accepts the terms; nothing accepts them for the user. `undefined`: not accepted. */
async function agree(context: CliContext, offer: ModelOffer): Promise<ModelOffer | undefined> {
  if (offer.terms === undefined) return offer;
  out(context, `\n${safeBlock(offer.terms)}`);
  const typed = await askWord(context, "Type `accept` if you may and want to use it this way: ");
  const acceptedOn = new Date().toISOString().slice(0, 10);
  if (typed === "accept") return { ...offer, table: { ...offer.table, "accepted-terms": acceptedOn } };
  out(context, "Not accepted; choose another.");
  return undefined;
}

/** The first model that answers. */
async function takeBest(work: InitWork): Promise<InitReport> {
  const { context, metier } = work;
  const offers = work.offers.filter(({ terms }) => terms === undefined);
  let last: InitReport = { written: false };
  if (offers.length === 0) return onlyWithConsent(work);
  for (const offer of offers) {
    const test = await testModel(work, withDefault(metier, offer), offer.id);
    if (test.ok) return write(work, offer, test);
    last = { chosen: offer.id, test, written: false };
  }
  endWith(context, EXIT.prerequisite);
  if (!work.flags.json) err(context, "None of these models answered; nothing was written.");
  return last;
}

function onlyWithConsent({ context, flags }: InitWork): InitReport {
  endWith(context, EXIT.no);
  if (!flags.json)
    err(context, "Nothing was written: this model needs your consent. Run `metier init` in a terminal.");
  return { written: false };
}

/** Nobody can be asked. */
function wouldWrite(work: InitWork): InitReport {
  const { context, flags, metier } = work;
  const best = work.offers.find(({ terms }) => terms === undefined);
  if (best === undefined) return onlyWithConsent(work);
  endWith(context, EXIT.no);
  if (!flags.json) {
    const lines = Object.entries(best.table).map(([key, value]) => `  ${key} = ${JSON.stringify(value)}`);
    const { file } = target(metier);
    out(
      context,
      safeBlock(["", `\`metier init --yes\` would write to ${file}:`, "  [models.default]", ...lines]),
    );
    err(context, "Nothing was written: there is no terminal to ask in. Use `metier init --yes`.");
  }
  return { chosen: best.id, written: false };
}

type Test = NonNullable<InitReport["test"]>;

async function testModel({ context, flags, metier }: InitWork, config: Config, id: string): Promise<Test> {
  const { environment } = context.io;
  const trial = { config, environment, base: workingDirectory(context, flags), places: metier.places };
  const tried = await withInterrupt(context, async (signal) => {
    if (!flags.json) out(context, `\nTesting ${safeLine(id)} with one short call…`);
    const { tryModel } = await import("@metier/run/engine");
    const outcome = await tryModel({ ...trial, signal });
    if (signal.aborted) throw new CancelledError("Cancelled; nothing was written.");
    return outcome;
  });
  if (tried.ok) {
    if (!flags.json) out(context, `  ${answerText(tried.value)}`);
    return { ok: true, answer: tried.value.answer };
  }
  const { message, hint } = tried.refusal;
  if (!flags.json) err(context, `  It failed: ${safeLine(message)}\n  ${hint.replaceAll("\n", "\n  ")}`);
  return { ok: false, reason: message };
}

function answerText({ answer, durationMs }: TriedModel): string {
  const said = answer === "" ? "It answered without text" : `It answered: ${safeLine(answer)}`;
  return `${said} (${(durationMs / 1000).toFixed(1)} s)`;
}

async function write(work: InitWork, { id, table, comment }: ModelOffer, test: Test): Promise<InitReport> {
  const { context, flags, metier } = work;
  await setConfigTable({ ...target(metier), path: PATH, values: table, comment });
  if (!flags.json) {
    out(context, safeBlock([`Wrote [models.default] to ${target(metier).file}.`, ...shadowed(metier)]));
    out(context, `\nNext: ${NEXT}`);
  }
  return { chosen: id, test, written: true };
}

/** A project's or the environment's setting overrides the user's. */
function shadowed({ config }: Metier): readonly string[] {
  const origin = config.origins.get("models.default.model") ?? config.origins.get("models.default.provider");
  if (origin === undefined || origin.layer === "user") return [];
  return [`In this folder, ${origin.where ?? origin.layer} sets another default, which wins.`];
}

function target({ places }: Metier): { readonly file: string; readonly target: "user" } {
  return { file: places.configFile, target: "user" };
}

/** The config with this default. */
function withDefault({ config: { config } }: Metier, { table }: ModelOffer): Config {
  const chosen: ModelConfig = Object.fromEntries(
    Object.entries(table).map(([key, value]) => [toCamelCase(key), value]),
  );
  return { ...config, models: { ...config.models, default: chosen } };
}

function showModel({ provider, model }: ModelConfig): string {
  return safeLine([provider, model].filter((part) => part !== undefined).join("/") || "configured");
}

function safeBlock(lines: readonly string[]): string {
  return lines.map(safeLine).join("\n");
}
