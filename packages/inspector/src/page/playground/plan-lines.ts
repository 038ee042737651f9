/** Lines of a plan: which declared reach is granted, and limits with their units. Pure. */
import type { Json, JsonObject } from "@metier/base/json";
import { formatBytes, formatCost, formatDuration, formatNumber } from "../state/format.ts";

interface Wish {
  /** `network`, `read`, `write`. */
  readonly kind: string;
  readonly item: string;
  readonly isDeclared: boolean;
  readonly isGranted: boolean;
}

export function compareWishes({
  declared,
  granted,
}: {
  readonly declared: JsonObject;
  readonly granted: JsonObject;
}): readonly Wish[] {
  const kinds = [...new Set([...Object.keys(declared), ...Object.keys(granted)])];
  return kinds.flatMap((kind) => {
    const [asked, given] = [itemsOf(declared[kind]), itemsOf(granted[kind])];
    return [...new Set([...asked, ...given])].map((item) => ({
      kind,
      item,
      isDeclared: asked.includes(item),
      isGranted: given.includes(item),
    }));
  });
}

function itemsOf(value: Json | undefined): readonly string[] {
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
  }
  return value === undefined || value === null || value === false ? [] : [JSON.stringify(value)];
}

const LIMITS: Readonly<Record<string, readonly [name: string, show: (value: number) => string]>> = {
  maxIterations: ["Model calls", (value) => `at most ${formatNumber(value)}`],
  timeoutMs: ["Time", (value) => `at most ${formatDuration(value)}`],
  maxOutputBytes: ["Output", (value) => `at most ${formatBytes(value)}`],
  maxTokens: ["Tokens", (value) => `at most ${formatNumber(value)}`],
  maxCost: ["Cost", (value) => `at most ${formatCost(value)}`],
};

export function showLimits(limits: JsonObject): readonly (readonly [name: string, value: string])[] {
  return Object.entries(limits).flatMap(([key, value]) => {
    if (typeof value !== "number") return [];
    const [name, show] = LIMITS[key] ?? [key, formatNumber];
    return [[name, show(value)] as const];
  });
}
