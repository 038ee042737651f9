/**
 * One isolated run of a skill with scripts in Python, JavaScript and TypeScript, a toolset and a hook. The model is
 * scripted, so this needs no key; everything else is real.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { createMetier, createScriptedModel, type Json } from "metier";

const script = (path: string, stdin: Json) => ({ tool: "run_script", input: { script: path, stdin } });
const convert = (amount: number, currency: string) => ({
  tool: "expense-report__convert",
  input: { amount, currency },
});

const model = createScriptedModel([
  {
    answer: {
      toolCalls: [script("scripts/sum.py", "train,100.00,EUR\nlunch,12.50,EUR\nhotel,40.00,CHF\n")],
    },
  },
  {
    expect: { toolResult: '{"CHF": "40.00", "EUR": "112.50"}' },
    answer: { toolCalls: [convert(40, "CHF"), convert(112.5, "EUR"), convert(20_000, "USD")] },
  },
  {
    expect: { toolResult: { contains: ['{"euros":42}', '{"euros":112.5}', "a person converts amounts"] } },
    answer: {
      toolCalls: [
        script("scripts/rank.mjs", [
          { currency: "CHF", euros: 42 },
          { currency: "EUR", euros: 112.5 },
        ]),
      ],
    },
  },
  {
    expect: { toolResult: '[{"currency":"EUR","euros":112.5},{"currency":"CHF","euros":42}]' },
    answer: { toolCalls: [script("scripts/keep.ts", "- EUR: 112.50 EUR\n- CHF: 42.00 EUR\n")] },
  },
  { expect: { toolResult: "Kept 2 lines." }, answer: { text: "You spent 154.50 EUR." } },
]);

const skills = fileURLToPath(new URL("skills", import.meta.url));
const metier = await createMetier({ paths: [skills], trustedPaths: [skills], models: { default: model } });

const plan = await metier.plan({ skill: "expense-report" });
assert.ok(plan.ok);
if (plan.outline.sandbox.backend === "bubblewrap") {
  const result = await metier.run({ skill: "expense-report", message: "What did I spend?" });
  assert.equal(result.status, "completed", result.error?.message);
  model.assertDone();
  assert.deepEqual(result.files, [{ path: "report.md", size: 35 }]);
  assert.equal(result.denied.length, 1);
  console.log(result.text);
} else {
  console.log("This example needs bubblewrap: `metier doctor` says how to get it.");
}
