/** Who advances runs, and what waits for them. Refreshed every few seconds. */
import type { ApiList, ApiQueue, ApiWorker } from "@metier/service/api";
import { Answered } from "../design/notice.tsx";
import { ViewPage } from "../design/page.tsx";
import { QueueSection } from "../operate/queue.tsx";
import { isOperatorOfAll } from "../operate/roles.ts";
import { WorkerSection } from "../operate/worker-section.tsx";
import { me, useAnswer } from "../state/answers.ts";
import { useFresh } from "../state/every.ts";

const QUEUE = "/v1/queue";
const WORKERS = "/v1/workers";

export function Workers() {
  // Workers serve all tenants: a tenant's operators see only their own queue.
  const workersPath = isOperatorOfAll(me.value) ? WORKERS : undefined;
  const queue = useAnswer<ApiQueue>(QUEUE);
  const workers = useAnswer<ApiList<ApiWorker>>(workersPath);
  useFresh([QUEUE, workersPath]);
  return (
    <ViewPage
      title="Workers and queue"
      lead="Runs wait in the queue until a worker has a free slot. Tenants take turns."
    >
      <Answered known={queue} path={QUEUE}>
        {(value) => <QueueSection queue={value} />}
      </Answered>
      {workersPath && (
        <Answered known={workers} path={workersPath}>
          {({ data }) => <WorkerSection workers={data} />}
        </Answered>
      )}
    </ViewPage>
  );
}
