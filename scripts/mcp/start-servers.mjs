/** The servers that the suite looks at: `metier mcp --http`, and `metier serve`, which answers MCP at `/mcp`. */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { ROOT } from "../setup/repository.mjs";
import { writeProject } from "./served-project.mjs";

const START_MS = 60_000;
const KEY = "a-key-for-the-conformance-suite-only";

/** @typedef {{ url: string, stop: () => void }} Served */

/** @param {string} folder @returns {Promise<Served>} */
export async function startMcp(folder) {
  const project = join(folder, "project");
  const home = join(folder, "home");
  mkdirSync(home);
  writeProject(project);
  return start(["mcp", "--http", "--json", "--home", home, "--cwd", project], {}, process.argv[2]);
}

/** @param {string} folder @returns {Promise<Served>} */
export async function startService(folder) {
  const home = join(folder, "service-home");
  writeProject(home);
  return serve(home, process.argv[2], "/mcp");
}

/**
 * `metier serve` behind a proxy that adds the key, because the suites cannot send one.
 *
 * @param {string} home
 * @param {string | undefined} program
 * @param {string} path of the protocol
 * @param {(body: string) => string} [edit] changes requests on the way
 * @returns {Promise<Served>}
 */
export async function serve(home, program, path, edit) {
  const served = await start(["serve", "--home", home, "--port", "0"], { METIER_ADMIN_KEY: KEY }, program);
  const proxy = await startProxy(served.url, edit);
  return {
    url: `${proxy.url}${path}`,
    stop() {
      proxy.stop();
      served.stop();
    },
  };
}

/**
 * @param {readonly string[]} args
 * @param {Record<string, string>} environment
 * @param {string} [program]
 * @returns {Promise<Served>}
 */
function start(args, environment, program = join(ROOT, "packages/metier/bin/metier.js")) {
  const env = { ...process.env, ...environment };
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "pipe"], env });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("The server did not start.")), START_MS);
    let output = "";
    const hear = (/** @type {Buffer} */ chunk) => {
      output += chunk.toString();
      const [url] = /http:\/\/[^"\s]+?(?=\.?["\s])/.exec(output) ?? [];
      if (url === undefined) return;
      clearTimeout(timer);
      resolve({ url, stop: () => child.kill("SIGTERM") });
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.on("close", () => {
      clearTimeout(timer);
      reject(new Error(`The server ended before it was ready: ${output}`));
    });
  });
}

/** @param {string} target @param {(body: string) => string} [edit] @returns {Promise<Served>} */
function startProxy(target, edit) {
  const { hostname, port } = new URL(target);
  const proxy = createServer(async (incoming, outgoing) => {
    const body = edit && incoming.method === "POST" ? Buffer.from(edit(await text(incoming))) : undefined;
    const length = body && { "content-length": body.length };
    const headers = { ...incoming.headers, authorization: `Bearer ${KEY}`, ...length };
    const { method, url: path } = incoming;
    const passed = request({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    outgoing.on("close", () => passed.destroy());
    if (body) passed.end(body);
    else incoming.pipe(passed);
  });
  return new Promise((resolve) => {
    proxy.listen(0, "127.0.0.1", () => {
      const address = /** @type {import("node:net").AddressInfo} */ (proxy.address());
      const stop = () => {
        proxy.closeAllConnections();
        proxy.close();
      };
      resolve({ url: `http://127.0.0.1:${address.port}`, stop });
    });
  });
}
