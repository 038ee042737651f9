/**
 * Results as objects: `output` checks a run's answer against a schema and gives `object` its type; a skill with an
 * `output-schema` does the same for every caller. The model is scripted, so this needs no key.
 */
import assert from "node:assert/strict";
import { createMetier, createScriptedModel } from "metier";
import { z } from "zod";

const model = createScriptedModel([
  { answer: { text: 'The total is {"total":"40 EUR"}' } }, // doesn't match, so the model is asked once more
  { expect: { lastUserText: "total" }, answer: { text: '{"total":40,"due":"2026-12-01"}' } },
  { answer: { text: '```json\n{"label":"bug"}\n```' } },
  { answer: { text: "I don't know." } },
  { answer: { text: "Really not." } },
]);
const metier = await createMetier({ autoDiscover: false, models: { default: model } });
await metier.register({
  name: "read-invoice",
  description: "Reads invoices.",
  instructions: "Read the invoice in the message.",
});
await metier.register({
  name: "triage",
  description: "Labels issues.",
  instructions: "Choose a label for the issue in the message.",
  "output-schema": {
    type: "object",
    properties: { label: { enum: ["bug", "feature"] }, urgent: { type: "boolean", default: false } },
    required: ["label"],
  },
});

const Invoice = z.object({
  total: z.number(),
  currency: z.string().default("EUR"),
  due: z.iso.date().transform((day) => new Date(day)),
});

const invoice = await metier.run({ skill: "read-invoice", message: "40 EUR by December 1", output: Invoice });
if (invoice.status !== "completed") throw new Error(invoice.error?.message);
const { total, currency, due } = invoice.object; // typed by the schema: number, string, Date
console.log(total, currency, due.getUTCFullYear());
assert.deepEqual(invoice.object, { total: 40, currency: "EUR", due: new Date("2026-12-01") });

const triage = await metier.run({ skill: "triage", message: "It crashes." });
assert.deepEqual(triage.object, { label: "bug", urgent: false });

const failed = await metier.run({ skill: "triage", message: "???" });
assert.equal(failed.error?.code, "output.invalid");
console.log(failed.error?.message);
