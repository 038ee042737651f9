/** A service in a process of its own: `service-process.ts <folder> <port>`. It says its address on the first line. */
import { startScripted } from "./start-scripted.ts";

const [folder = "", port = "0"] = process.argv.slice(2);
const options = { port: Number(port), leaseMs: 1_000 };
const { service } = await startScripted({ folder, options });
process.stdout.write(`${service.url}\n`);
