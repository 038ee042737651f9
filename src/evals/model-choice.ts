/** Which models an evaluation asks, and what they cost. Said before anything is run, so that a missing one costs nothing. */
import { MetierError, UsageError } from "../foundation/errors.ts";
import { chooseModel } from "../model/choose-model.ts";
import type { GivenModel } from "../model/given-model.ts";
import { type Pricing, pricingOf } from "../model/pricing.ts";
import type { Metier } from "../runtime/create-metier.ts";
import { type Arm, type OpenMetier, openArm } from "./arms.ts";

export interface ModelWishes {
  readonly model?: string | GivenModel;
  readonly graderModel?: string | GivenModel;
  readonly maxCost?: number;
  readonly isReplay: boolean;
}

export interface ModelChoice {
  /** For people; of a replay the recordings say it. */
  readonly model?: string;
  readonly grader?: string;
  pricing(arm: Arm): Pricing | undefined;
  readonly graderPricing: Pricing | undefined;
}

const REPLAYED: ModelChoice = {
  pricing: () => undefined,
  graderPricing: undefined,
};

/** Throws `MetierError` with the code `model.unavailable`, which says what to do. */
export async function requireModel(
  open: OpenMetier,
  arms: readonly Arm[],
  wishes: ModelWishes,
  folder: string,
): Promise<ModelChoice> {
  if (wishes.isReplay) return REPLAYED;
  const prices = new Map<Arm, Pricing | undefined>();
  let model = "";
  let grader: Pricing | undefined;
  for (const arm of arms) {
    const metier = await openArm(open, arm, folder);
    try {
      model ||= await nameModel(metier, arm, wishes);
      prices.set(arm, priceOf(metier, wishes.model, arm));
      grader ??= priceOf(metier, wishes.graderModel ?? wishes.model);
    } finally {
      await metier.capabilities.close();
    }
  }
  for (const price of [...prices.values(), grader]) requirePrice(price, wishes);
  const graderName = describe(wishes.graderModel) ?? model;
  return { model, grader: graderName, pricing: (arm) => prices.get(arm), graderPricing: grader };
}

/** By the plan of a run, which makes every check; only a missing model ends the evaluation here. */
async function nameModel(metier: Metier, arm: Arm, { model }: ModelWishes): Promise<string> {
  const planned = await metier.plan({
    skill: arm.skill,
    source: "code",
    ...(model !== undefined && { model }),
  });
  if (planned.ok) return planned.outline.model;
  const { error } = planned.result;
  if (error?.code !== "model.missing") return describe(model) ?? "";
  throw new MetierError("model.unavailable", error.message, {
    hint: "Or evaluate without a model, from recordings: `--replay <folder>`; `--record <folder>` makes them.",
  });
}

/** A limit that could never be reached is none. */
function requirePrice(price: Pricing | undefined, { maxCost, isReplay }: ModelWishes): void {
  if (price !== undefined || maxCost === undefined || isReplay) return;
  throw new UsageError("A limit on cost needs prices, and the model that is asked has none.", {
    hint: "Set `input-price` and `output-price` of its `[models.<alias>]` table, or limit tokens instead.",
  });
}

/** What a conversation costs that no skill decides about. Throws `UsageError` for a limit on cost without prices. */
export function chatPricing(metier: Metier, wishes: ModelWishes): Pricing | undefined {
  const price = priceOf(metier, wishes.model);
  requirePrice(price, wishes);
  return price;
}

function priceOf(metier: Metier, asked: ModelWishes["model"], arm?: Arm): Pricing | undefined {
  const choice = chooseModel({
    config: metier.config.config,
    environment: {}, // A model that is known by its key alone has no prices.
    ...(asked !== undefined && { asked }),
    ...(arm && { skill: { name: arm.skill, ...(arm.model !== undefined && { model: arm.model }) } }),
  });
  return choice.ok && choice.target.kind === "configured" ? pricingOf(choice.target.config) : undefined;
}

function describe(model: ModelWishes["model"]): string | undefined {
  return typeof model === "object" ? `${model.provider}/${model.modelId}` : model;
}
