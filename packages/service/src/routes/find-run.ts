/** A run of the caller's tenant, or a 404, which doesn't reveal whether another tenant has it. */
import { done, type Refused, type Result } from "@metier/base/result";
import type { DurableRun } from "@metier/durable";
import { readRunId } from "@metier/run/events";
import { type HttpRefusal, refuse, refuseMissing } from "../http/refusal.ts";
import type { Identity } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";

/** A run in another process can only be viewed here. */
export async function refuseElsewhere(
  context: ServiceContext,
  runId: string,
): Promise<Refused<HttpRefusal> | undefined> {
  const owner = await context.findOwner(runId);
  return owner && refuse(409, "run_elsewhere", owner.message, owner.hint);
}

export async function findRun(
  { journal }: ServiceContext,
  { tenant }: Identity,
  id: string,
): Promise<Result<DurableRun, HttpRefusal>> {
  const run = readRunId(id) === undefined ? undefined : await journal.get(id);
  return run?.tenant === tenant ? done(run) : refuseMissing("run", id, "/v1/runs");
}
