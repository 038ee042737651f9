/**
 * A throw-away Postgres for tests, benches and manual trials: the system's programs, its own data folder and port, an
 * ordinary user. Installs nothing and never touches Debian's own cluster.
 */
import { spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";

/** The command to type if Postgres isn't installed. */
export const INSTALL_POSTGRES = "apt-get install -y --no-install-recommends postgresql";

const DEBIAN = "/usr/lib/postgresql";
/** Each becomes a database and a role that may only connect. */
const OWNER = "metier_admin";
const RUNTIME = "metier";

/** The folder with `initdb` and `postgres`; `undefined`: Postgres isn't installed. @returns {string | undefined} */
export function findPostgres() {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    process.env.METIER_POSTGRES_BIN ?? "",
    ...debian.map((version) => join(DEBIAN, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  return folders.find((folder) => folder !== "" && existsSync(join(folder, "initdb")));
}

/**
 * @typedef {object} Cluster
 * @property {string} superUrl of the user that owns everything, to the database `postgres`
 * @property {number} port
 * @property {number} pid of the server
 * @property {(database: string) => { adminUrl: string, url: string }} urls of the role that migrates, and of the runtime role
 * @property {(signal?: NodeJS.Signals) => Promise<void>} stop `SIGINT` ends connections, `SIGQUIT` is a crash
 */

/**
 * Starts it in a new folder, or in one that an earlier start created.
 *
 * `isDetached`: it outlives the process that starts it, and ignores the signals of its terminal.
 *
 * @param {{ folder: string, port?: number, isDurable?: boolean, isDetached?: boolean, settings?: Record<string, string | number> }} options
 * @returns {Promise<Cluster>}
 */
export async function startCluster({
  folder,
  port: asked,
  isDurable = false,
  isDetached = false,
  settings = {},
}) {
  const bin = findPostgres();
  if (bin === undefined) throw new Error(`Postgres is not installed. Install it: ${INSTALL_POSTGRES}`);
  const data = join(folder, "data");
  const user = ordinaryUser();
  if (!existsSync(join(data, "PG_VERSION"))) makeData(bin, folder, data, user);
  const port = asked ?? (await freePort());
  const fast = isDurable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" };
  const all = { listen_addresses: "127.0.0.1", port, unix_socket_directories: folder, ...fast, ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = spawn(join(bin, "postgres"), ["-D", data, ...args], {
    stdio: "ignore",
    detached: isDetached,
    cwd: folder,
    ...user,
  });
  if (isDetached) server.unref();
  const ended = new Promise((resolve) => void server.once("exit", resolve));
  const superUrl = `postgres://metier_super@127.0.0.1:${port}/postgres`;
  await waitUntilReady(bin, port, server);
  return {
    superUrl,
    port,
    pid: Number(server.pid),
    urls: (database) => ({
      adminUrl: `postgres://${OWNER}@127.0.0.1:${port}/${database}`,
      url: `postgres://${RUNTIME}@127.0.0.1:${port}/${database}`,
    }),
    async stop(signal = "SIGINT") {
      server.kill(signal);
      await ended;
    },
  };
}

/**
 * A database with an owner that may migrate and a role for services that may not.
 *
 * @param {Cluster} cluster
 * @param {string} database letters, digits and underscores
 * @param {string} [template] the database to copy
 */
export function makeDatabase({ superUrl, urls }, database, template = "template1") {
  runSql(superUrl, `CREATE DATABASE ${database} OWNER ${OWNER} TEMPLATE ${template}`);
  return urls(database);
}

/** @param {Cluster} cluster @param {string} database */
export function dropDatabase({ superUrl }, database) {
  runSql(superUrl, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
}

/**
 * With `psql`, so that nothing here depends on the code being tested.
 *
 * @param {string} url
 * @param {string} sql
 * @returns {string}
 */
export function runSql(url, sql) {
  const bin = findPostgres() ?? "";
  const args = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql];
  const { status, stdout, stderr } = spawnSync(join(bin, "psql"), args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`psql: ${stderr}`);
  return stdout.trim();
}

/** @param {string} bin @param {string} folder @param {string} data @param {{ uid?: number, gid?: number }} user */
function makeData(bin, folder, data, user) {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  for (const path of [folder, data]) if (user.uid !== undefined) chownSync(path, user.uid, Number(user.gid));
  const args = ["-D", data, "-U", "metier_super", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"];
  const made = spawnSync(join(bin, "initdb"), args, { encoding: "utf8", cwd: folder, ...user });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`);
  const single = ["--single", "-D", data, "postgres"];
  const input = [OWNER, RUNTIME].map((role) => `CREATE ROLE ${role} LOGIN;\n`).join("");
  const roles = spawnSync(join(bin, "postgres"), single, { encoding: "utf8", input, cwd: folder, ...user });
  if (roles.status !== 0) throw new Error(`postgres --single: ${roles.stderr}`);
}

/** Postgres refuses to run as root. @returns {{ uid?: number, gid?: number }} */
function ordinaryUser() {
  if (process.getuid?.() !== 0) return {};
  const entry = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
    .find(([name]) => name === "postgres");
  return entry ? { uid: Number(entry[2]), gid: Number(entry[3]) } : { uid: 65_534, gid: 65_534 };
}

/** @param {string} bin @param {number} port @param {import("node:child_process").ChildProcess} server */
async function waitUntilReady(bin, port, server) {
  while (server.exitCode === null) {
    if (spawnSync(join(bin, "pg_isready"), ["-q", "-h", "127.0.0.1", "-p", String(port)]).status === 0)
      return;
    await new Promise((resolve) => void setTimeout(resolve, 50));
  }
  throw new Error(`Postgres ended with ${server.exitCode} before it was ready.`);
}

/** @returns {Promise<number>} */
function freePort() {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}
