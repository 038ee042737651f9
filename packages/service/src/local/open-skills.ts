/** The skills of one machine for a service: which of them can be called, what was uploaded, and what can be told about all. */
import { join } from "node:path";
import type { RecordStore } from "@metier/durable";
import type { Metier } from "@metier/runtime";
import { openFolderShelf } from "../shelf/folder-shelf.ts";
import type { ServiceOptions } from "../start-service.ts";
import { type LocalInsight, type LocalInsightParts, openLocalInsight } from "./open-insight.ts";

interface SkillParts extends Pick<LocalInsightParts, "openFolders" | "secretNames" | "evalFolders"> {
  readonly metier: Metier;
  readonly records: RecordStore;
  /** Of the service: uploads are kept in it. */
  readonly folder: string;
  readonly home: string;
  readonly cwd: string;
}

interface LocalSkills extends Pick<ServiceOptions, "shelf"> {
  readonly insight: LocalInsight;
  readonly hiddenFolders: LocalInsightParts["hiddenFolders"];
}

export function openSkills(parts: SkillParts): LocalSkills {
  const { metier, records, folder, home, cwd, ...insightParts } = parts;
  const hiddenFolders = [
    [home, "~"],
    [cwd, "."],
  ] as const;
  const shelf = openFolderShelf({
    folder: join(folder, "skills"),
    records,
    listOwn: async () => describeOwn(metier),
    now: Date.now,
  });
  const insight = openLocalInsight({ own: async () => metier, shelf, hiddenFolders, ...insightParts });
  return { shelf, insight, hiddenFolders };
}

/** Those that a user may call by name. */
function describeOwn(metier: Metier) {
  return metier
    .list()
    .filter(({ status, manifest }) => status === "enabled" && manifest.userInvocable)
    .map(({ name, description, trust }) => ({ name, description, trust: trust.level }));
}
