/** Like `Promise.all` over a list, with at most so many at work at the same time. The first fault ends it. */
export async function mapBounded<Item, Value>(
  items: readonly Item[],
  most: number,
  act: (item: Item) => Promise<Value>,
): Promise<readonly Value[]> {
  const values: Value[] = [];
  const left = items.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of left) values[index] = await act(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, work));
  return values;
}
