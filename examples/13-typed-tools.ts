/**
 * Tools of your program, typed by a schema (zod here; valibot, arktype and JSON Schema work the same way). They know who
 * asks, may return anything, and ask before they change something. The model is scripted, so that this runs without a key.
 */
import assert from "node:assert/strict";
import { createMetier, createScriptedModel, defineTool } from "metier";
import { z } from "zod";

let orders = [
  { id: 1, customer: "ada", placed: new Date("2026-11-02") },
  { id: 2, customer: "ada", placed: new Date("2026-09-30") },
  { id: 3, customer: "bob", placed: new Date("2026-11-03") },
];

const findOrders = defineTool({
  name: "find_orders",
  description: "Finds orders of the customer who asks.",
  input: z.object({ since: z.iso.date().transform((day) => new Date(day)) }),
  effect: "read", // allowed without a question
  execute({ since }, { caller, log }) {
    const found = orders.filter(({ customer, placed }) => customer === caller.userId && placed >= since);
    log.info("searched orders", { found: found.length }); // an event of the run; the model does not see it
    return found; // any value: the model reads it as JSON
  },
});

const cancelOrder = defineTool({
  name: "cancel_order",
  description: "Cancels an order.",
  input: z.object({ id: z.number().int() }),
  effect: "write", // asks first, unless a trusted skill or the config allows it
  async execute({ id }, { caller }) {
    const isTheirs = orders.some((order) => order.id === id && order.customer === caller.userId);
    if (!isTheirs) throw new Error(`There is no order ${id}.`); // the model reads the message and goes on
    orders = orders.filter((order) => order.id !== id);
  },
});

const cancel = (id: number) => ({ toolCalls: [{ tool: "cancel_order", input: { id } }] });
const model = createScriptedModel([
  { answer: { toolCalls: [{ tool: "find_orders", input: { since: "2026-11-01" } }] } },
  { expect: { toolResult: '[{"id":1,"customer":"ada"' }, answer: cancel(3) },
  { expect: { toolResult: "There is no order 3." }, answer: cancel(1) },
  { expect: { toolResult: "It returned nothing." }, answer: { text: "Order 1 is canceled." } },
]);
const tools = [findOrders, cancelOrder];
const metier = await createMetier({ autoDiscover: false, models: { default: model }, tools });
await metier.register({ name: "orders", description: "Handles orders.", instructions: "Help the customer." });

const { text } = await metier.run({
  skill: "orders",
  message: "Cancel my last order.",
  caller: { userId: "ada" },
  approve: ({ tool }) => (tool === "cancel_order" ? "yes" : "no"),
});
assert.equal(text, "Order 1 is canceled.");
assert.equal(orders.length, 2);
