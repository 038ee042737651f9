/** Whether the scan keeps an untrusted skill from being used, by the config as it is now. */
import { existsSync } from "node:fs";
import type { HeldSkill } from "../scan/hold-back.ts";
import type { Skill } from "../skill/skill.ts";
import type { MetierState } from "./load-state.ts";
import type { ReadySkill } from "./remote.ts";

export interface Holding {
  /** `skill` has the trust that was decided for this use. */
  heldBack(skill: Skill): Promise<HeldSkill | undefined>;
  /** The same in words for a model, of a skill as the catalog knows it. */
  whyHeld(skill: Skill): Promise<string | undefined>;
}

export interface HoldingInputs {
  current(): MetierState;
  /** Fetches the files of a skill that is not here. */
  readonly ready: ReadySkill;
  /** Where findings are remembered; without it every use scans. */
  readonly cacheFolder?: string | undefined;
}

export function createHolding({ current, ready, cacheFolder }: HoldingInputs): Holding {
  const heldBack: Holding["heldBack"] = async (skill) => {
    if (skill.remote && !existsSync(skill.location)) return undefined; // Without files it is refused as unreadable.
    const { holdBack } = await import("../scan/hold-back.ts");
    const { readScanPolicy } = await import("../scan/scan-policy.ts");
    const { config, catalog } = current();
    return holdBack(skill, () => readScanPolicy(config.config.scan, catalog.names()), cacheFolder);
  };
  return {
    heldBack,
    async whyHeld(skill) {
      const readiness = await ready(skill, false);
      if (readiness.kind !== "ready") {
        const { refuseLoad } = await import("../remote/refuse-load.ts");
        return refuseLoad(skill, readiness).message;
      }
      const { trust } = current().trustOnUse(skill);
      const held = await heldBack({ ...skill, trust });
      if (held === undefined) return undefined;
      const { describeHeld } = await import("../scan/hold-back.ts");
      return describeHeld(skill.name, held);
    },
  };
}
