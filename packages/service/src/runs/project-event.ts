/**
 * An event as the service's clients see it. Every event of the journal is included, so that numbers have no gaps; what
 * reveals the server (folders, variable names, prompts) is left out, and folders in texts are replaced.
 */
import { dirname, isAbsolute } from "node:path";
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import type { JournalEvent, JournalStore } from "@metier/durable";
import { createPathHider, type PathHider } from "@metier/run/events";

/** Never sent, whatever the event. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "workDir",
  "skillDir",
  "cwd",
  "location",
  "env",
  "system",
  "messages",
]);

export interface EventProjection {
  event(event: JournalEvent): Json;
  /** The same for text that arrives in pieces. */
  readonly text: Pick<PathHider, "push" | "end">;
  /** The same for a question, a result or a file name. */
  value(value: Json): Json;
}

/** `folders`: the server's, each with the name that clients see instead. */
export async function openProjection(
  journal: Pick<JournalStore, "events">,
  runId: string,
  folders: readonly (readonly [folder: string, shown: string])[],
): Promise<EventProjection> {
  const paths = createPathHider();
  for (const [folder, shown] of folders) paths.hide(folder, shown);
  const learn = (event: Json | undefined): void => {
    if (!isJsonObject(event) || event.type !== "run-started") return;
    const text = (name: string): string | undefined => {
      const value = event[name];
      return typeof value === "string" && value !== "" ? value : undefined;
    };
    const location = text("location");
    paths.hide(text("workDir"), ".");
    paths.hide(text("skillDir"), `skill:${text("skill") ?? ""}`);
    if (location !== undefined) paths.hide(dirname(location), `skill:${text("skill") ?? ""}`);
    paths.hide(text("cwd"), ".");
  };
  // The first event names the run's folders; a stream that continues later hasn't seen it.
  learn((await journal.events(runId, 0, 1))[0]?.event);
  const value = (given: Json): Json => paths.cleanJson(given) as Json;
  return {
    value,
    text: paths,
    event({ seq, event }) {
      learn(event);
      if (!isJsonObject(event)) return { seq };
      const kept = Object.entries(event).filter(([name]) => !LEFT_OUT.has(name));
      const cleaned = value({ ...Object.fromEntries(kept), ...whatWasAsked(event) }) as JsonObject;
      const { sandbox } = cleaned;
      return { ...cleaned, ...(sandbox !== undefined && { sandbox: withoutPlaces(sandbox) }), seq };
    },
  };
}

/**
 * What the user said, as recorded after the redaction gate: the order may contain a secret in plain text. Only from the
 * model's first call, and only its last message: earlier ones are from earlier turns.
 */
function whatWasAsked({ type, step, messages }: JsonObject): JsonObject {
  if (type !== "model-called" || step !== 1 || !Array.isArray(messages)) return {};
  const said = messages.filter(isJsonObject).findLast(({ role }) => role === "user");
  if (said === undefined || !Array.isArray(said.parts)) return {};
  const parts = said.parts
    .filter(isJsonObject)
    .flatMap(({ type: kind, text }) =>
      kind === "text" && typeof text === "string" ? [{ type: kind, text }] : [],
    );
  return parts.length === 0 ? {} : { messages: [{ role: "user", parts }] };
}

/** From what a run was granted and used: server paths outside of the run's folders mean nothing to a client. */
export function withoutPlaces(value: Json): Json {
  if (Array.isArray(value))
    return value.filter((item) => typeof item !== "string" || !isAbsolute(item)).map(withoutPlaces);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutPlaces(item)]));
}
