/** Work over a list, a few at a time; the answers stand in the order of the list. */

/** After a fault nothing new is begun; it is thrown when what was under way has ended. */
export async function inParallel<Item, Answer>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const faults: unknown[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) {
      if (faults.length > 0) return;
      try {
        answers[index] = await work(item);
      } catch (fault) {
        faults.push(fault); // Thrown below.
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  if (faults.length > 0) throw faults[0];
  return answers;
}
