/** The smallest bridge: answers each line until the input ends, so it supports both ways of starting it. */
import { createInterface } from "node:readline";
import { OPERATION } from "./contestants.mjs";

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, namespace, method, params } = JSON.parse(line);
  const capability = { id: `${namespace}.echo`, description: "Echoes.", operations: [OPERATION] };
  const result = method === "definitions" ? { definitions: [capability] } : { output: params.input_data };
  process.stdout.write(`${JSON.stringify({ version: 1, id, result })}\n`);
});
