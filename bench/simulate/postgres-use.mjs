/** What a Postgres on this machine has used: processor time of all its processes, and bytes of its log. */
import { readdirSync, readFileSync } from "node:fs";
import { runSql } from "../../scripts/postgres/cluster.mjs";

/** Linux has reported the same number of `clock ticks` per second for decades. */
const TICK_MS = 10;

/** @typedef {{ readonly cpuMs: number, readonly walBytes: number }} PostgresUse */

/** @param {import("../../scripts/postgres/cluster.mjs").Cluster} cluster @returns {PostgresUse} */
export function readUse({ pid, superUrl }) {
  const walBytes = Number(runSql(superUrl, "SELECT pg_current_wal_insert_lsn() - '0/0'"));
  return { cpuMs: readCpuMs(pid), walBytes };
}

/** The server, its living processes, and those that have ended. @param {number} pid */
function readCpuMs(pid) {
  const [own, ...children] = [pid, ...childrenOf(pid)].map(readRunningMs);
  return Number(own) + children.reduce((sum, ms) => sum + ms, 0) + readEndedMs(pid);
}

/** @param {number} pid @returns {readonly number[]} */
function childrenOf(pid) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && readStat(Number(name))?.[1] === String(pid))
    .map(Number);
}

/** In nanoseconds there, not in ticks, because most of these processes do little. @param {number} pid */
function readRunningMs(pid) {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return 0; // It has just ended, and counts among those that have.
  }
}

/** @param {number} pid */
function readEndedMs(pid) {
  const fields = readStat(pid) ?? [];
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}

/** Starts at its state, because the text before it may contain spaces. @param {number} pid */
function readStat(pid) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    return undefined; // It has just ended.
  }
}
