/**
 * A program whose callbacks fail in every way: nothing stops, each fault is reported once, and a question that nobody
 * could answer counts as no. The model is scripted, so this needs no key.
 */
import assert from "node:assert/strict";
import { createMetier, createScriptedModel, type Logger, type Tool } from "metier";

const model = createScriptedModel([
  { answer: { toolCalls: [{ tool: "send_mail", input: { to: "ada@example.org" } }] } },
  { expect: { toolResult: { contains: "could not be asked" } }, answer: { text: "Nothing was sent." } },
]);
const sendMail: Tool = {
  name: "send_mail",
  description: "Sends a mail.",
  inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  effect: "write",
  execute: async () => ({ text: "Sent.", isError: false }),
};

/** Any logger with these four functions: pino gets the fields first, `console` and this one the message. */
const lines: string[] = [];
const write = (message: string, fields: object) =>
  void lines.push([message, "code" in fields ? fields.code : ""].join(" ").trim());
const logger: Logger = { debug: write, info: write, warn: write, error: write };

let heard = 0;
const metier = await createMetier({
  models: { default: model },
  tools: [sendMail],
  logger,
  onEvent: () => void heard++, // For every run, chat and nested run.
});
await metier.register({
  name: "notify",
  description: "Notify someone by mail. Use when something is done.",
  instructions: "Send one mail to $0.",
});

const result = await metier.run({
  skill: "notify",
  arguments: "ada@example.org",
  onEvent: async () => {
    throw new Error("the browser has gone");
  },
  approve: () => Promise.reject(new Error("the window was closed")),
});
console.log(result.status, result.text, result.denied[0]?.reason);
for (const { code, message } of result.diagnostics) console.log(code, message);
assert.equal(result.status, "completed");
assert.equal(result.denied[0]?.tool, "send_mail");
assert.deepEqual(
  result.diagnostics.map(({ code }) => code),
  ["host.callback-failed", "host.callback-failed"],
);
assert.ok(heard > 5 && lines.includes("run started"));

// A typo isn't ignored: `mesage` would have changed nothing.
const slip = { skill: "notify", mesage: "Hello." };
await assert.rejects(metier.run(slip), { code: "option.unknown", hint: "Did you mean `message`?" });
