/** The table of the reference validator against its verdicts over real files. */
import { COMPAT_CLIENTS, checkCompat } from "@metier/install/publish";
import { expect, test } from "vitest";
import { CORPUS_IS_HERE, type CorpusFile, readCorpus } from "./corpus-files.ts";
import { ACCEPTED_WRONGLY } from "./reference-faults.ts";

const REFERENCE = COMPAT_CLIENTS.filter(({ id }) => id === "agentskills");

async function worksByTable({ parsed }: CorpusFile): Promise<boolean> {
  const { clients } = await checkCompat(parsed.candidate, REFERENCE);
  return clients.every(({ works }) => works);
}

test.skipIf(!CORPUS_IS_HERE)("what the reference validator says is what its table says", async () => {
  const differing: string[] = [];
  for (const file of await readCorpus()) {
    if (file.verdict === "not-run") continue;
    const isAccepted = Array.isArray(file.verdict) && file.verdict.length === 0;
    const isExplained = isAccepted && ACCEPTED_WRONGLY.some(({ applies }) => applies(file));
    if (!isExplained && (await worksByTable(file)) !== isAccepted) differing.push(file.path);
  }
  expect(differing).toEqual([]);
});
