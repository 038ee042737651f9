/** One machine's skills for a service: which can be called, what was uploaded, and what is reported about them. */
import { join } from "node:path";
import type { RecordStore, SnapshotStore } from "@metier/durable";
import type { Metier } from "@metier/runtime";
import { type HomeSkill, openHomeSkills } from "../shared/home-skills.ts";
import { openSkillShelf } from "../shelf/open-shelf.ts";
import { openSkillContents } from "../shelf/skill-contents.ts";
import type { SkillShelf } from "../shelf/skill-shelf.ts";
import { type LocalInsight, type LocalInsightParts, openLocalInsight } from "./open-insight.ts";

interface SkillParts
  extends Pick<LocalInsightParts, "openFolders" | "openServed" | "secretNames" | "evalFolders"> {
  readonly metier: Metier;
  readonly records: RecordStore;
  /** Where the contents of skills are stored. */
  readonly snapshots: Pick<SnapshotStore, "take" | "restore">;
  /** Whether runs go on on machines with other homes, too. */
  readonly isShared?: boolean | undefined;
  /** Of the service: what uploads consist of lies in it. */
  readonly folder: string;
  readonly home: string;
  readonly cwd: string;
}

interface LocalSkills {
  readonly shelf: SkillShelf;
  readonly insight: LocalInsight;
  readonly hiddenFolders: LocalInsightParts["hiddenFolders"];
}

export function openSkills(parts: SkillParts): LocalSkills {
  const { metier, records, snapshots, isShared = false, folder, home, cwd, ...insightParts } = parts;
  const now = Date.now;
  const hiddenFolders = [
    [home, "~"],
    [cwd, "."],
  ] as const;
  const shelf = openSkillShelf({
    records,
    contents: openSkillContents({ folder: join(folder, "skills"), snapshots, now }),
    home: openHomeSkills(async () => describeOwn(metier), now),
    isShared,
    now,
  });
  const insight = openLocalInsight({ own: async () => metier, shelf, hiddenFolders, ...insightParts });
  return { shelf, insight, hiddenFolders };
}

/** Those that can be used. */
function describeOwn(metier: Metier): readonly HomeSkill[] {
  return metier
    .list()
    .filter(({ status }) => status === "enabled")
    .map(({ name, description, trust, manifest, form, location, directory }) => ({
      name,
      description,
      trust: trust.level,
      isForUsers: manifest.userInvocable,
      content: location === "" ? undefined : { form, location, directory },
    }));
}
