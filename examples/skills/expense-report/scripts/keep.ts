// Keeps a report in the work folder, if every line of it names a currency and an amount.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const LINE = /^- [A-Z]{3}: \d+\.\d{2} EUR$/;

const lines: readonly string[] = (await text(process.stdin)).trim().split("\n");
const wrong = lines.filter((line) => !LINE.test(line));
if (wrong.length > 0) {
  process.stderr.write(`Not a line of a report: ${wrong.join(", ")}\n`);
  process.exitCode = 1;
} else {
  writeFileSync(join(process.env.METIER_WORK_DIR ?? ".", "report.md"), `${lines.join("\n")}\n`);
  process.stdout.write(`Kept ${lines.length} lines.`);
}
