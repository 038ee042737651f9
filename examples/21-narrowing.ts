/**
 * A restricted skill: the tools in its `disallowed-tools` are taken away while the model follows it, completely or
 * call by call, in your own loop. What nobody enforces is reported. Every other adapter does the same in its host's
 * format.
 */
import assert from "node:assert/strict";
import { createMetier, plainSkills } from "metier";

const metier = await createMetier({ autoDiscover: false });
await metier.register({
  name: "look-around",
  description: "Describes a folder. Use when someone asks what is in it.",
  disallowedTools: ["send_mail", "Bash(rm:*)"],
  instructions: "List the files and describe them. Change nothing.",
});

const tools = [{ name: "shell" }, { name: "send_mail" }, { name: "weather" }]; // as you would send them to a model
const runTool = (name: string, input: unknown) => ({
  text: `${name} ran with ${JSON.stringify(input)}`,
  isError: false,
});

const skills = await plainSkills(metier); // one per conversation
const run = skills.guard(runTool); // checks each call of your tools first
const names = () => skills.narrow(tools).map(({ name }) => name); // before each request to the model

skills.startTurn(); // the user has spoken
console.log("before:", names());
await skills.call("use_skill", { skill: "look-around" });
console.log("while it is followed:", names());
assert.deepEqual(names(), ["shell", "weather"]);

const listed = await run("shell", { command: "ls" });
const removed = await run("shell", { command: "rm -r ." });
console.log(`${listed.text}\n${removed.text}`);
assert.deepEqual([listed.isError, removed.isError], [false, true]);

skills.startTurn();
assert.equal(names().length, 3);

// A program that uses only the tools enforces nothing, and is told so: here, and by the `logger` of `createMetier`.
const unheld = await plainSkills(metier);
await unheld.call("use_skill", { skill: "look-around" });
console.log(unheld.reports.map(({ code, message }) => `${code}: ${message}`));
assert.equal(unheld.reports[0]?.code, "tools.unenforced");
