/** Requests to `metier mcp` compared with the official SDK's example server, over stdio and HTTP. */

import { METIER, SDK, TRANSPORTS } from "./mcp/contestants.mjs";
import { measureIn, quantile } from "./measured.mjs";
import { machineLine, table } from "./report.mjs";

/** @typedef {{ readonly single: readonly number[], readonly together: number, readonly togetherMs: number }} Times */
/** @typedef {Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Times>>>>>>} Measured by transport, request and server */

const ROUNDS = 24;
const WARM_UPS = 4;
const PER_ROUND = 200;
const AT_ONCE = 8;
const SKILLS = 100;
const ABOUT = `Each server has its own process and the same ${SKILLS} skills. The same bare client asks them in ${ROUNDS} rounds, in turns, ${PER_ROUND} requests of each kind one after the other and then ${AT_ONCE} at a time. The example is the first server of the SDK's documentation (a tool that greets) with the SDK's own skills extension, which reads the folder once. Over HTTP, both make a new server for each request. Our tool is \`use_skill\`: it returns a skill's text, and checks each time that the skill has not changed. The example's tool makes a sentence, and its list and files are those of its start.`;

/** @returns {string} the section for the document */
export function benchMcp() {
  const machine = machineLine();
  const given = [ROUNDS, WARM_UPS, PER_ROUND, AT_ONCE, SKILLS].map(String);
  const measured = /** @type {Measured} */ (measureIn("mcp-cost", ...given));
  return [
    "## Serving MCP: `npm run bench -- mcp`",
    machine,
    ABOUT,
    ...TRANSPORTS.map((transport) => describe(transport, measured)),
    table(["goal: at least equal to the example", "requests a second", "p99", ""], judge(measured)),
  ].join("\n\n");
}

/** @param {string} transport @param {Measured} measured */
function describe(transport, measured) {
  const rows = Object.entries(measured[transport] ?? {}).flatMap(([request, servers]) =>
    [METIER, SDK].map((name) => {
      const times = timesOf(servers, name);
      const [half, most] = [quantile(times.single, 0.5), quantile(times.single, 0.99)];
      return [`${request}: ${name}`, half.toFixed(2), most.toFixed(2), rateOf(times).toFixed(0)];
    }),
  );
  return table([`over ${transport}`, "p50 ms", "p99 ms", `requests a second, ${AT_ONCE} at a time`], rows);
}

/** @param {Measured} measured */
function judge(measured) {
  return TRANSPORTS.flatMap((transport) =>
    Object.entries(measured[transport] ?? {}).map(([request, servers]) => {
      const [ours, theirs] = [timesOf(servers, METIER), timesOf(servers, SDK)];
      const rate = rateOf(ours) / rateOf(theirs);
      const last = quantile(ours.single, 0.99) / quantile(theirs.single, 0.99);
      const isMet = rate >= 1 && last <= 1;
      return [
        `${transport}: ${request}`,
        `${rate.toFixed(2)}×`,
        `${last.toFixed(2)}×`,
        isMet ? "met" : "missed",
      ];
    }),
  );
}

/** @param {Readonly<Record<string, Times>>} servers @param {string} name @returns {Times} */
function timesOf(servers, name) {
  return servers[name] ?? { single: [], together: 0, togetherMs: 1 };
}

/** Requests per second. @param {Times} times */
function rateOf({ together, togetherMs }) {
  return (together / togetherMs) * 1000;
}
