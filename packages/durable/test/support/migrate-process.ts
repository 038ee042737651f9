/** Migrates a database in a process of its own: `migrate-process.ts <adminUrl> <url>`. Says what came of it, as JSON. */
import { migrate } from "../../src/postgres/migrate.ts";

const [adminUrl = "", url = ""] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await migrate({ adminUrl, url })));
