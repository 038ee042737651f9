/**
 * Tools of your program, typed by a schema (zod here; valibot, arktype and JSON Schema work the same way). They know
 * who asks, may return anything, and ask before they change something. The model is scripted, so this needs no key.
 */
import assert from "node:assert/strict";
import { createMetier, createScriptedModel, defineTool } from "metier";
import { z } from "zod";

const orders = new Map([
  [1, { customer: "ada", placed: new Date("2026-11-02") }],
  [2, { customer: "bob", placed: new Date("2026-11-03") }],
]);

const findOrders = defineTool({
  name: "find_orders",
  description: "Finds orders of the customer who asks.",
  input: z.object({ since: z.iso.date().transform((day) => new Date(day)) }),
  effect: "read", // allowed without a question
  execute({ since }, { caller, log }) {
    log.info("searching orders", { since }); // an event of the run; the model does not see it
    return [...orders].filter(([, { customer, placed }]) => customer === caller.userId && placed >= since);
  },
});

const cancelOrder = defineTool({
  name: "cancel_order",
  description: "Cancels an order.",
  input: z.object({ id: z.number().int() }),
  effect: "write", // asks first, unless a trusted skill or the config allows it
  async execute({ id }, { caller }) {
    if (orders.get(id)?.customer !== caller.userId) throw new Error(`There is no order ${id}.`); // told to the model
    orders.delete(id);
  },
});

const cancel = (id: number) => ({ toolCalls: [{ tool: "cancel_order", input: { id } }] });
const model = createScriptedModel([
  { answer: { toolCalls: [{ tool: "find_orders", input: { since: "2026-11-01" } }] } },
  { expect: { toolResult: '[[1,{"customer":"ada"' }, answer: cancel(2) },
  { expect: { toolResult: "There is no order 2." }, answer: cancel(1) },
  { expect: { toolResult: "It returned nothing." }, answer: { text: "Order 1 is canceled." } },
]);
const metier = await createMetier({ models: { default: model }, tools: [findOrders, cancelOrder] });
await metier.register({ name: "orders", description: "Handles orders.", instructions: "Help the customer." });

const ada = metier.for({ userId: "ada" }); // one view per request
const { text } = await ada.run({
  skill: "orders",
  message: "Cancel my last order.",
  approve: ({ tool }) => (tool === "cancel_order" ? "yes" : "no"),
});
assert.equal(text, "Order 1 is canceled.");
assert.deepEqual([...orders.keys()], [2]);
