/**
 * One machine of the Postgres bench: a server that advances no runs, or a worker. Reports the events of runs to its
 * parent, by the system's clock, and its processor time on request.
 */
import { startLocalService } from "@metier/service";
import { TOOL, TOOL_ABOUT, TOOL_INPUT } from "../run-loop/model.mjs";
import { createServiceModel } from "../service/model.mjs";

/** The events that someone waits for. */
const TOLD = new Set(["run-started", "approval-answered", "run-finished"]);
const [role = "", home = "", slots = "0"] = process.argv.slice(2);
const { METIER_DATABASE_URL: database = "", METIER_OBJECT_STORE: objectStore = "" } = process.env;

const started = await startLocalService({
  home,
  environment: process.env,
  shared: { database, objectStore },
  slots: Number(slots),
  isWorker: role === "worker",
  metier: {
    models: { default: createServiceModel() },
    tools: [
      {
        name: TOOL,
        description: TOOL_ABOUT,
        inputSchema: { ...TOOL_INPUT },
        effect: "read",
        execute: async ({ a, b }) => ({ text: String(Number(a) + Number(b)), isError: false }),
      },
    ],
    onEvent({ runId, type }) {
      if (TOLD.has(type))
        process.send?.({ what: `${runId} ${type}`, at: Number(process.hrtime.bigint()) / 1e6 });
    },
  },
});
if (!started.ok) throw new Error(started.refusal.message);
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuMs: (user + system) / 1000 });
});
process.on("disconnect", () => process.exit(0));
process.send?.({ url: started.value.url });
