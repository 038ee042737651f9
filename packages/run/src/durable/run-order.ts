/**
 * A durable run's request as JSON: everything a later process needs to start it again. What can't be stored (a
 * program's tools, callbacks and models) belongs to the process that advances it.
 */
import { UsageError } from "@metier/base/errors";
import { isJsonObject, type JsonObject, presentFields } from "@metier/base/json";
import { fitShape, type Shape } from "@metier/base/shape";
import type { Caller } from "../invoke/invocation.ts";
import type { ChatOptions } from "../run/chat-options.ts";
import type { RunRequest } from "../run/run-request.ts";

/** A durable run of a skill: the options of `run` that can be stored. */
export interface RunOrder
  extends Pick<RunRequest, "skill" | "message" | "context" | "arguments" | "input" | "limits" | "write"> {
  /** Who starts it: the user (default), or a model. */
  readonly source?: RunRequest["source"];
  /** The user it runs for. */
  readonly caller?: Caller | undefined;
  /** An alias or `provider/model`. */
  readonly model?: string | undefined;
  /**
   * `ask` (default): a call that the policy doesn't allow waits for a person. `every`: so does each call that isn't
   * read-only. `allow`: calls that the policy would ask about are allowed.
   */
  readonly approve?: "ask" | "every" | "allow" | undefined;
}

const KEPT = [
  "skill",
  "message",
  "context",
  "arguments",
  "input",
  "limits",
  "write",
  "source",
  "caller",
  "model",
  "approve",
] as const satisfies readonly (keyof RunOrder)[];

export function writeOrder(order: RunOrder): JsonObject {
  const unknown = Object.keys(order).find((key) => !KEPT.some((kept) => kept === key));
  if (unknown !== undefined) {
    throw new UsageError(`\`${unknown}\` cannot be used in a durable run: it cannot be stored.`, {
      hint: `Allowed: ${KEPT.map((key) => `\`${key}\``).join(", ")}. Pass the rest to \`createMetier\`.`,
    });
  }
  const told = presentFields(Object.fromEntries(KEPT.map((key) => [key, order[key]])));
  return { kind: "skill", ...(JSON.parse(JSON.stringify(told)) as JsonObject) };
}

/** The next message of a session: a conversation that outlives any process. */
export interface TurnOrder extends Pick<RunOrder, "caller" | "model" | "limits" | "approve"> {
  /** The user's message. */
  readonly message: string;
  /** The run of the previous turn. */
  readonly previous?: string | undefined;
  /** The system prompt: who the model is and how it answers. */
  readonly instructions?: string | undefined;
}

export function writeTurn(order: TurnOrder): JsonObject {
  return { kind: "turn", ...(JSON.parse(JSON.stringify(order)) as JsonObject) };
}

type ReadOrder = ({ readonly kind: "skill" } & RunOrder) | ({ readonly kind: "turn" } & TurnOrder);

const orderShape: Shape<ReadOrder> = (value) => {
  if (!isJsonObject(value)) return undefined;
  const isRun = value.kind === "skill" && typeof value.skill === "string";
  const isTurn = value.kind === "turn" && typeof value.message === "string";
  return isRun || isTurn ? (value as unknown as ReadOrder) : undefined;
};

/** Written by this program earlier, so it only checks that it can be used. */
export function readOrder(order: JsonObject): ReadOrder | undefined {
  return fitShape(orderShape, order);
}

/** Only these fields: an order may contain more than a run should know. */
export function toRequest(order: RunOrder): RunRequest {
  const { skill, message, context, arguments: line, input, limits, write, source = "user" } = order;
  const { caller, model } = order;
  const told = { message, context, arguments: line, input, limits, write, caller, model };
  return { skill, source, ...told, ...readApprove(order) };
}

export function toChatOptions({ caller, model, limits, instructions, approve }: TurnOrder): ChatOptions {
  return { caller, model, limits, instructions, ...readApprove({ approve }) };
}

function readApprove({ approve }: Pick<RunOrder, "approve">): { readonly approve?: "all" } {
  return approve === "allow" ? { approve: "all" } : {};
}
