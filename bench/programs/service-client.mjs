/**
 * A client of the service in its own process, so that its cost isn't counted as the service's. Starts the given number
 * of runs at once and reports the id of each, and when it was requested and answered, by the system's clock.
 */
const [url = "", key = ""] = process.argv.slice(2);

process.on(
  "message",
  async (/** @type {{ readonly count: number, readonly body: unknown }} */ { count, body }) => {
    process.send?.(await Promise.all(Array.from({ length: count }, () => start(body))));
  },
);
process.on("disconnect", () => process.exit(0));

/** @param {unknown} body */
async function start(body) {
  const from = now();
  const response = await fetch(`${url}/v1/runs`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return { id: JSON.parse(text).id, from, answered: now() };
}

/** Milliseconds, the same in all processes. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}
