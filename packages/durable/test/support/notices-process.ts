/**
 * Another process on the same database: `notices-process.ts <url> [notice…]`. It says each notice that it hears as a line of
 * JSON, and tells those that it was given as soon as it has heard one.
 */
import type { BusNotice } from "../../src/index.ts";
import { openPostgresNotices } from "../../src/postgres/notices.ts";

const [url = "", ...given] = process.argv.slice(2);
const { bus } = openPostgresNotices({ url });
const answers = given.map((text) => JSON.parse(text) as BusNotice);

bus.onNotice((notice) => {
  process.stdout.write(`${JSON.stringify(notice)}\n`);
  for (const answer of answers.splice(0)) bus.tell(answer);
});
