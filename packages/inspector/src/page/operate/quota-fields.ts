/** The quotas as people read and write them: their names, units, and numbers from text. Pure. */
import type { ApiQuotaLimits } from "@metier/service/api";
import { formatBytes, formatCost, formatNumber, formatTokens } from "../state/format.ts";

type QuotaName = keyof ApiQuotaLimits;

interface QuotaField {
  readonly name: QuotaName;
  readonly title: string;
  /** The label in a form: with its unit. */
  readonly label: string;
  readonly about: string;
  /** How many API units are in one unit that people write. */
  readonly unit: number;
  readonly isWhole: boolean;
  show(value: number): string;
}

const MEGABYTE = 1024 * 1024;

export const QUOTA_FIELDS: readonly QuotaField[] = [
  {
    name: "concurrentRuns",
    title: "Runs at the same time",
    label: "Runs at the same time",
    about: "Further runs wait in the queue.",
    unit: 1,
    isWhole: true,
    show: formatNumber,
  },
  {
    name: "openRuns",
    title: "Open runs",
    label: "Open runs",
    about: "Queued, in progress, or waiting for a person.",
    unit: 1,
    isWhole: true,
    show: formatNumber,
  },
  {
    name: "startsPerMinute",
    title: "Starts per minute",
    label: "Starts per minute",
    about: "Requests for a run.",
    unit: 1,
    isWhole: true,
    show: formatNumber,
  },
  {
    name: "tokensPerDay",
    title: "Tokens per day",
    label: "Tokens per day",
    about: "For runs that have ended. A day starts at midnight UTC.",
    unit: 1,
    isWhole: true,
    show: formatTokens,
  },
  {
    name: "costPerDay",
    title: "Cost per day",
    label: "Cost per day, in dollars",
    about: "As far as model prices are known.",
    unit: 1,
    isWhole: false,
    show: formatCost,
  },
  {
    name: "storageBytes",
    title: "Storage",
    label: "Storage, in megabytes",
    about: "Work folders of runs, and uploaded skills.",
    unit: MEGABYTE,
    isWhole: false,
    show: formatBytes,
  },
];

/** What can be limited where: storage only per tenant, and concurrent runs the same for each user. */
const ALL = QUOTA_FIELDS.map(({ name }) => name);

export const FIELDS_OF: Readonly<Record<"tenant" | "each" | "user", readonly QuotaName[]>> = {
  tenant: ALL,
  each: ALL.filter((name) => name !== "storageBytes"),
  user: ALL.filter((name) => name !== "storageBytes" && name !== "concurrentRuns"),
};

/** The texts of the fields; an empty one means no limit. */
type QuotaTexts = Readonly<Record<QuotaName, string>>;

export function writeLimits(limits: ApiQuotaLimits): QuotaTexts {
  const texts = QUOTA_FIELDS.map(({ name, unit }) => {
    const value = limits[name];
    return [name, value === undefined ? "" : String(value / unit)];
  });
  return Object.fromEntries(texts) as QuotaTexts;
}

interface ReadLimits {
  readonly limits: ApiQuotaLimits;
  readonly errors: Readonly<Partial<Record<QuotaName, string>>>;
}

export function readLimits(texts: QuotaTexts): ReadLimits {
  const limits: Partial<Record<QuotaName, number>> = {};
  const errors: Partial<Record<QuotaName, string>> = {};
  for (const { name, unit, isWhole } of QUOTA_FIELDS) {
    const text = texts[name].trim().replaceAll(",", "");
    if (text === "") continue;
    const isNumber = isWhole ? /^\d{1,15}$/.test(text) : /^\d{1,12}(\.\d+)?$/.test(text);
    if (isNumber) limits[name] = unit === 1 ? Number(text) : Math.round(Number(text) * unit);
    else
      errors[name] = isWhole
        ? "Enter a whole number, or leave it empty for no limit."
        : "Enter a number, or leave it empty for no limit.";
  }
  return { limits, errors };
}

/** At this share, a bar warns. */
const NEARLY = 0.8;

export function toneOf(used: number, limit: number): "accent" | "warn" | "bad" {
  if (used >= limit) return "bad";
  return used >= limit * NEARLY ? "warn" : "accent";
}

/** The limits in words: `5 runs at the same time`. */
export function describeLimits(limits: ApiQuotaLimits): string {
  const words = QUOTA_FIELDS.flatMap(({ name, title, show }) => {
    const value = limits[name];
    return value === undefined ? [] : [`${title}: ${show(value)}`];
  });
  return words.length === 0 ? "No limits" : words.join(" · ");
}
