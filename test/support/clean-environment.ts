/**
 * Gives the whole test run an empty home of its own, so that nothing on the developer's machine changes a result, and the
 * programs that tests start a place for compiled code: hundreds of them load the same sources.
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "./repository.ts";
import { placeForCluster } from "./shared-cluster.ts";

/** What the developer may set for a test run. */
const KEPT = new Set([
  ...["METIER_REQUIRE_SANDBOX", "METIER_FUZZ_RUNS", "METIER_KILLS", "METIER_KILL_SEED"],
  ...["METIER_CAPABILITY_OPERATIONS", "METIER_CAPABILITY_KILLS", "METIER_CAPABILITY_SEED"],
  ...["METIER_TENANT_USERS", "METIER_TENANT_RUNS", "METIER_TENANT_AT_ONCE"],
  ...[
    "METIER_DURABILITY_KILLS",
    "METIER_DURABILITY_RUNS",
    "METIER_DURABILITY_SEED",
    "METIER_DURABILITY_WORKERS",
  ],
  ...["METIER_CLIENTS_DIR", "METIER_GGUF_PACKAGE"],
  ...["METIER_REQUIRE_BROWSER", "METIER_CHROMIUM", "METIER_SCREENSHOTS"],
  ...["METIER_REQUIRE_POSTGRES", "METIER_POSTGRES_BIN", "METIER_SHOWN"],
  ...["METIER_REQUIRE_NATIVE"],
]);

export function setup(): () => void {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "metier-test-home-")));
  process.env.HOME = home;
  process.env.NODE_COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "metier-tests");
  for (const name of Object.keys(process.env)) {
    const isSetting = name.startsWith("METIER_") || name.startsWith("XDG_") || name === "FORCE_COLOR";
    const leadsToKeychain = name === "DBUS_SESSION_BUS_ADDRESS";
    if ((isSetting && !KEPT.has(name)) || leadsToKeychain) delete process.env[name];
  }
  const endCluster = placeForCluster(realpathSync(mkdtempSync(join(tmpdir(), "metier-test-postgres-"))));
  return () => {
    endCluster();
    rmSync(home, { recursive: true, force: true });
  };
}
