/** A run of the caller's own tenant, or a 404: that another tenant has one is not told. */
import { done, type Result } from "@metier/base/result";
import type { DurableRun } from "@metier/durable";
import { readRunId } from "@metier/run/events";
import { type HttpRefusal, refuseMissing } from "../http/refusal.ts";
import type { Identity } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";

export async function findRun(
  { journal }: ServiceContext,
  { tenant }: Identity,
  id: string,
): Promise<Result<DurableRun, HttpRefusal>> {
  const run = readRunId(id) === undefined ? undefined : await journal.get(id);
  return run?.tenant === tenant ? done(run) : refuseMissing("run", id, "/v1/runs");
}
