import { defineToolset } from "metier/toolset";

/** What one unit is worth in euros. A real skill would keep its rates in `context.dataDir`. */
const RATES: Readonly<Record<string, number>> = { EUR: 1, CHF: 1.05, USD: 0.9 };

export const Currency = defineToolset({
  tools: {
    convert: {
      description: "Converts an amount to euros. Use it for every sum of a report.",
      input: {
        type: "object",
        properties: { amount: { type: "number", minimum: 0 }, currency: { type: "string" } },
        required: ["amount", "currency"],
      },
      output: { type: "object", properties: { euros: { type: "number" } }, required: ["euros"] },
      run({ amount, currency }) {
        const rate = RATES[currency];
        if (rate === undefined) throw new Error(`There is no rate for ${currency}.`);
        return { euros: Math.round(amount * rate * 100) / 100 };
      },
    },
  },
});
