/** Declared, granted and used reach of a run as one table. Pure. */
import type { JsonObject } from "@metier/base/json";

interface ReachRow {
  /** `network`, `read`, `write`. */
  readonly kind: string;
  readonly item: string;
  readonly isDeclared: boolean;
  readonly isGranted: boolean;
  readonly isUsed: boolean;
}

interface Reaches {
  readonly declared?: JsonObject | undefined;
  readonly granted?: JsonObject | undefined;
  readonly used?: JsonObject | undefined;
}

export function compareReach({ declared = {}, granted = {}, used = {} }: Reaches): readonly ReachRow[] {
  const kinds = [...new Set([declared, granted, used].flatMap((reach) => Object.keys(reach)))];
  return kinds.flatMap((kind) => {
    const [asked, given, taken] = [itemsOf(declared[kind]), itemsOf(granted[kind]), itemsOf(used[kind])];
    return [...new Set([...asked, ...given, ...taken])].map((item) => ({
      kind,
      item,
      isDeclared: isCovered(item, asked),
      isGranted: isCovered(item, given),
      // A granted pattern or folder is used under another name.
      isUsed: taken.has(item) || [...taken].some((use) => covers(item, use)),
    }));
  });
}

function isCovered(item: string, by: ReadonlySet<string>): boolean {
  return by.has(item) || [...by].some((wide) => covers(wide, item));
}

/** `*` and `*.example.com` cover hosts, on any port unless they name one; a folder covers its contents. */
function covers(wide: string, narrow: string): boolean {
  if (wide === "*" || narrow.startsWith(`${wide.replace(/\/$/, "")}/`)) return true;
  const [host, port] = splitPort(narrow);
  const [wideHost, widePort] = splitPort(wide);
  if (widePort !== undefined && widePort !== port) return false;
  return host === wideHost || (wideHost.startsWith("*.") && host.endsWith(wideHost.slice(1)));
}

function splitPort(text: string): readonly [host: string, port: string | undefined] {
  const [, host = text, port] = /^(.*?)(?::(\d+))?$/.exec(text) ?? [];
  return [host, port];
}

function itemsOf(value: unknown): ReadonlySet<string> {
  if (Array.isArray(value))
    return new Set(value.map((item) => (typeof item === "string" ? item : JSON.stringify(item))));
  return value === undefined || value === null || value === false
    ? new Set()
    : new Set([JSON.stringify(value)]);
}

/** What stands out, in words; `undefined` if nothing does. */
export function remarkOn({ isDeclared, isGranted, isUsed }: ReachRow): string | undefined {
  if (isUsed && !isGranted) return "used without its own entry";
  if (isGranted && !isUsed) return isDeclared ? "granted, not used" : "granted but not declared, not used";
  if (isDeclared && !isGranted) return "declared, not granted";
  if (isUsed && !isDeclared) return "used but not declared";
  return undefined;
}
