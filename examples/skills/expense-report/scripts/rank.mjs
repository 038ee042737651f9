// Reads what was spent in each currency and prints it with the largest amount first.
import { text } from "node:stream/consumers";

/** @type {{ currency: string, euros: number }[]} */
const sums = JSON.parse(await text(process.stdin));
process.stdout.write(JSON.stringify(sums.sort((a, b) => b.euros - a.euros)));
