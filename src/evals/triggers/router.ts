/**
 * Which skill a model would use for a request: a new conversation each time, with the listing and the `use_skill` tool that
 * a chat has. Behind the names stand no instructions, so nothing of a skill is carried out, and the turn ends with the choice.
 */
import type { GivenSkill } from "../../catalog/given-skills.ts";
import type { RunEvent } from "../../events/run-event.ts";
import { MetierError } from "../../foundation/errors.ts";
import type { Pricing } from "../../model/pricing.ts";
import type { Skill } from "../../skill/skill.ts";
import type { OpenMetier } from "../arms.ts";
import { chatPricing, type ModelWishes } from "../model-choice.ts";
import { isRecord } from "../read/json-file.ts";
import type { RecordedRequest } from "../recordings.ts";

export interface Routed {
  /** Absent: none was used. */
  readonly skill?: string;
  readonly model: string;
  /** Why there is no answer. */
  readonly fault?: string;
}

export interface RouteOrder extends RecordedRequest {
  readonly query: string;
  readonly signal: AbortSignal;
  onEvent(event: RunEvent): void;
}

export interface Router {
  /** What its conversations cost; absent where no price is configured. */
  readonly pricing?: Pricing;
  route(order: RouteOrder): Promise<Routed>;
  close(): Promise<void>;
}

/** A model may look around before it decides. */
const MOST_STEPS = 3;

/** `folder` is empty: what the skills are about is not there. */
export async function openRouter(
  open: OpenMetier,
  skills: readonly Skill[],
  folder: string,
  wishes: ModelWishes,
): Promise<Router> {
  const metier = await open({
    cwd: folder,
    bundled: false,
    index: false,
    integrations: skills.map(standIn),
    config: { skills: { "auto-discover": false, paths: [], allow: skills.map(({ name }) => name) } },
  });
  const pricing = chatPricing(metier, wishes);
  return {
    ...(pricing && { pricing }),
    close: () => metier.capabilities.close(),
    async route({ query, signal, onEvent, model, record }) {
      const chosen = new AbortController();
      let skill: string | undefined;
      const listen = (event: RunEvent): void => {
        onEvent(event);
        if (event.type !== "tool-called" || event.tool !== "use_skill" || event.decision === "deny") return;
        skill ??=
          isRecord(event.input) && typeof event.input.skill === "string" ? event.input.skill : undefined;
        chosen.abort(new Error("The model has chosen."));
      };
      const chat = await metier
        .chat({
          limits: { maxIterations: MOST_STEPS },
          onEvent: listen,
          ...(model !== undefined && { model }),
        })
        .catch(explainNoModel);
      const turn = await chat.send(query, {
        signal: AbortSignal.any([signal, chosen.signal]),
        ...(record !== undefined && { record }),
      });
      const fault = turn.status === "failed" ? (turn.error?.message ?? "no reason was given") : undefined;
      return {
        model: chat.model,
        ...(skill !== undefined && { skill }),
        ...(fault !== undefined && { fault }),
      };
    },
  };
}

function standIn({ name, description, manifest: { whenToUse } }: Skill): GivenSkill {
  return {
    name,
    description,
    instructions: "Answer with one word: done.",
    ...(whenToUse !== undefined && { "when-to-use": whenToUse }),
  };
}

function explainNoModel(fault: unknown): never {
  if (!(fault instanceof MetierError) || fault.code !== "model.unavailable") throw fault;
  throw new MetierError(fault.code, `${fault.message} ${fault.hint ?? ""}`.trim(), {
    hint: "Or do without a model, from recordings: `--replay <folder>`; `--record <folder>` makes them.",
  });
}
