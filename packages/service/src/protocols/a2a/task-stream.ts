/** A run as updates of a task: the task as it is, then pieces of its answer and changes of its status. */
import type { JsonObject } from "@metier/base/json";
import type { DurableRun } from "@metier/durable";
import type { ServiceContext } from "../../service-context.ts";
import type { InnerRequest } from "../ask-route.ts";
import type { FollowLife } from "../follow.ts";
import { type RunNews, tellRun } from "../run-news.ts";
import type { TaskAt } from "./a2a-methods.ts";
import { placeOf, statusOf } from "./show-task.ts";

const NOTHING = { approvals: [], questions: [] };

/** Ends with the run, or where a person is asked (`until`). `undefined`: nothing happened for a while. */
export async function* updateTask(
  asking: InnerRequest,
  context: ServiceContext,
  { run, after }: TaskAt,
  life: FollowLife,
  until: "asked" | "ended",
): AsyncGenerator<JsonObject | undefined, void> {
  const write = createUpdates(run, after);
  for await (const news of tellRun(asking, context, run, life, after)) {
    if (news.kind === "quiet") yield undefined;
    // The same for everybody who follows the task: the journal's time, not the one of this stream.
    const at = news.kind === "waiting" ? (await context.journal.get(run.id))?.updatedAt : undefined;
    yield* write(news, at ?? context.now());
    if (news.kind === "ended" || (news.kind === "waiting" && until === "asked")) return;
  }
}

type WriteUpdates = (news: RunNews, at: number) => readonly JsonObject[];

function createUpdates(run: DurableRun, after: number): WriteUpdates {
  const place = placeOf(run);
  let step = after;
  let isBegun = false;
  const tell = (status: JsonObject): JsonObject => ({ statusUpdate: { ...place, status } });
  return (news, at) => {
    switch (news.kind) {
      case "text": {
        if (news.restarts) isBegun = false;
        const artifact = { artifactId: `text-${step}`, parts: [{ text: news.text }] };
        const append = isBegun;
        isBegun = true;
        return [{ artifactUpdate: { ...place, artifact, append } }];
      }
      case "event": {
        if (news.event.type === "model-answered") {
          step = Number(news.event.seq);
          isBegun = false;
        }
        if (news.event.type !== "run-started" && news.event.type !== "run-resumed") return [];
        return [
          tell(
            statusOf(
              { status: "running", ...(news.event.at !== undefined && { updatedAt: news.event.at }) },
              run.id,
              NOTHING,
            ),
          ),
        ];
      }
      case "waiting":
        return [tell(statusOf({ updatedAt: new Date(at).toISOString() }, run.id, news.asked))];
      case "ended":
        return [tell(statusOf(news.run, run.id, NOTHING))];
      default:
        return [];
    }
  };
}
