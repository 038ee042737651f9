/**
 * Remembers scans of the same content in one cache file, which is ignored if a single byte differs from what was
 * written. The key covers everything a report depends on: the content, the skill's name, the rules and the options.
 * Bounded; the most recently used entries stay.
 */
import { basename, join } from "node:path";
import { digestBytes } from "@metier/base/digest";
import { readBounded, writeAtomic } from "@metier/base/files";
import { VERSION } from "@metier/base/places";
import type { SkillContent } from "@metier/skills/trust";
import type { ScanReport, ScanSkillOptions } from "./scan-skill.ts";

/** Raise this when the same content may give another report; `test/scan-pool.test.ts` fails when the rules change. */
export const RULES_VERSION = 2;

interface KnownScans {
  isEmpty(): boolean;
  recall(key: string): ScanReport | undefined;
  keep(key: string, report: ScanReport): void;
  /** Once, at the end. */
  save(): void;
}

interface Bounds {
  readonly entries: number;
  readonly bytes: number;
}

const BOUNDS: Bounds = { entries: 50_000, bytes: 32 * 1024 * 1024 };

export function openKnownScans(cacheFolder: string, bounds: Bounds = BOUNDS): KnownScans {
  const file = join(cacheFolder, "scans", "reports.json");
  let known: ReadonlyMap<string, ScanReport> | undefined;
  const used = new Map<string, ScanReport>();
  let isChanged = false;
  const load = (): ReadonlyMap<string, ScanReport> => {
    known ??= read(file, bounds);
    return known;
  };
  return {
    isEmpty: () => load().size === 0,
    recall: (key) => load().get(key),
    keep(key, report) {
      used.set(key, report);
      if (!load().has(key)) isChanged = true;
    },
    save() {
      if (!isChanged) return;
      const texts: string[] = [];
      let bytes = 0;
      for (const entry of new Map([...used, ...load()])) {
        const text = JSON.stringify(entry);
        bytes += Buffer.byteLength(text) + 2;
        if (texts.length >= bounds.entries || bytes + HEAD_BYTES > bounds.bytes) break;
        texts.push(text);
      }
      write(file, `[${texts.join(",\n")}]`);
    },
  };
}

/** `sha256:…` and its line break. */
const HEAD_BYTES = 72;

function read(file: string, { bytes }: Bounds): ReadonlyMap<string, ScanReport> {
  const stored = readBounded(file, bytes);
  if (!stored.ok || stored.notUtf8) return new Map();
  const text = stored.text.slice(HEAD_BYTES);
  if (stored.text.slice(0, HEAD_BYTES) !== `${digestBytes(text)}\n`) return new Map();
  try {
    return new Map(JSON.parse(text) as [string, ScanReport][]);
  } catch {
    return new Map(); // Its writer wrote something else.
  }
}

function write(file: string, text: string): void {
  try {
    writeAtomic(file, [`${digestBytes(text)}\n`, text], { flush: false });
  } catch {
    // No space or no permission: the next scan checks everything again.
  }
}

/** Besides the content: its name, who named it, and everything else that affects findings. */
export function startKeys(
  options: ScanSkillOptions,
): (digest: string, content: SkillContent, name: Pick<ScanSkillOptions, "name" | "candidate">) => string {
  const { ignore = [], knownNames = [], limits = {} } = options;
  const rules = digestBytes(
    JSON.stringify([VERSION, RULES_VERSION, ignore.toSorted(), knownNames.toSorted(), limits]),
  );
  return (digest, { form, location, directory }, { name, candidate }) =>
    digestBytes(
      JSON.stringify([
        rules,
        digest,
        form,
        basename(location),
        basename(directory),
        name,
        candidate?.defaultName,
      ]),
    ).slice("sha256:".length);
}
