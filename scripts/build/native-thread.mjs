/**
 * Compiles the native code (`packages/skills/native`) with this machine's C compiler and the headers that come with Node: the
 * second thread of a listing, the one that makes the tree of an installation, and what identifies folders, makes digests and
 * decompresses packs. Its interface (Node-API) is the same in all Nodes, and what else it takes from Node it can do without,
 * so one file serves them all.
 */
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT, runQuietly } from "../setup/repository.mjs";

const SOURCES = join(ROOT, "packages/skills/native");
const HEADERS = join(dirname(process.execPath), "../include/node");
/** CI needs it; anywhere else a build works without it, too. */
const isRequired = process.env.METIER_REQUIRE_NATIVE === "1";
const FLAGS = [
  ...["-std=gnu11", "-D_GNU_SOURCE", "-D_LARGEFILE64_SOURCE", "-O2", "-fPIC", "-shared", "-pthread"],
  // Some compilers define the third themselves, with another value.
  ...["-fvisibility=hidden", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"],
  ...["-Wl,-z,relro,-z,now", "-s", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wno-sign-conversion"],
  ...(isRequired ? ["-Werror"] : []),
];

/**
 * @param {string} folder where to put it
 * @returns {string | undefined} why there is none
 */
export function compileNativeThread(folder) {
  const reason = compile(folder);
  if (reason && isRequired) throw new Error(`The native thread is required, but ${reason}.`);
  return reason;
}

/** @param {string} folder @returns {string | undefined} */
function compile(folder) {
  if (process.platform !== "linux") return "it is only for Linux";
  if (!existsSync(join(HEADERS, "node_api.h"))) return `${HEADERS} has no Node headers`;
  const compiler = process.env.CC ?? "cc";
  if (!runQuietly(compiler, ["--version"]).ok) return `there is no C compiler (\`${compiler}\`)`;
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `threads-${process.platform}-${process.arch}.node`);
  const sources = readdirSync(SOURCES).filter((name) => name.endsWith(".c"));
  const args = [...FLAGS, "-isystem", HEADERS, "-o", file, ...sources.map((name) => join(SOURCES, name))];
  const { ok, output } = runQuietly(compiler, args);
  return ok ? undefined : `\`${compiler}\` does not compile it: ${output}`;
}
