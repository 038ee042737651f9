/** The exports of `@metier/service`. */
export { exportKeptRun } from "./local/export-kept-run.ts";
export { startInspect } from "./local/start-inspect.ts";
export { startLocalService } from "./local/start-local-service.ts";
export { collectSnapshots } from "./shared/needed-snapshots.ts";
