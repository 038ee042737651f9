/** Things that happen in a durable run at the same time are each recorded, and stop nothing. */
import { expect, test } from "vitest";
import { journaledEvents, openDurable, workUntil } from "../support/durable-runs.ts";
import { PUBLIC, startSite } from "../support/loopback-site.ts";
import { pretendPublic } from "../support/public-sites.ts";
import { describeSandbox } from "../support/sandbox.ts";
import { bash, createRunWorld, says } from "../support/scripted-runs.ts";

test("two skills whose instructions are followed at once do not stop the run", async () => {
  const world = createRunWorld({ build: ["allowed-tools: use_skill"], one: [], two: [] });
  const use = (skill: string) => ({ tool: "use_skill", input: { skill, message: "Do it." } });
  const durable = openDurable(world, [{ answer: { toolCalls: [use("one"), use("two")] } }, says("Done.")]);
  const metier = await durable.open();
  const runId = await metier.durable.start({ skill: "build", message: "Do it." });
  await workUntil(metier, runId, "completed");
  const types = (await journaledEvents(durable, runId)).map(({ type }) => type);
  expect(types).not.toContain("run-resumed");
  const keys = (await durable.store.journal.entries(runId)).map(({ key }) => key);
  expect(keys.filter((key) => key.startsWith("follow "))).toHaveLength(2);
});

describeSandbox("a command of a durable run", () => {
  test("may ask for several things outside at once", async () => {
    pretendPublic({ "site.test": [PUBLIC] });
    const site = await startSite((_request, response) => response.end("there\n"));
    const host = `site.test:${site.port}`;
    const world = createRunWorld({ fetcher: [`allowed-tools: Bash\nsandbox: { network: ["${host}"] }`] });
    world.write({ "home/.metier/config.toml": `[sandbox]\nnetwork = ["${host}"]\n` });
    const ask = `{ host: "127.0.0.1", port: new URL(process.env.HTTP_PROXY).port, path: "http://${host}/" }`;
    const program = `for (let i = 0; i < 8; i += 1) require("http").get(${ask}, (r) => r.pipe(process.stdout))`;
    const durable = openDurable(world, [bash(`node -e '${program}'`), says("Done.")]);
    const metier = await durable.open();
    const runId = await metier.durable.start({ skill: "fetcher", message: "Do it." });
    await workUntil(metier, runId, "completed");
    const events = await journaledEvents(durable, runId);
    expect(events.map(({ type }) => type)).not.toContain("run-resumed");
    const [finished] = events.filter((event) => event.type === "tool-finished");
    expect(finished?.text.match(/there/g)).toHaveLength(8);
  });
});
