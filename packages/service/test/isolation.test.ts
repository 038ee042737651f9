/** Tenants on one machine do not reach each other. */
import { describeIsolation } from "./support/describe-isolation.ts";

describeIsolation("SQLite");
