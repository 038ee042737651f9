/** A growing list of numbers in one array. */

export interface GrowingNumbers {
  push(number: number): void;
  append(numbers: Uint32Array): void;
  clear(): void;
  /** Its current content; overwritten by what comes next. */
  view(): Uint32Array;
}

export function growingNumbers(): GrowingNumbers {
  let room = new Uint32Array(1024);
  let length = 0;
  const reserve = (wanted: number): void => {
    if (wanted <= room.length) return;
    const larger = new Uint32Array(Math.max(wanted, room.length * 2));
    larger.set(room.subarray(0, length));
    room = larger;
  };
  return {
    push(number) {
      if (length === room.length) reserve(length + 1);
      room[length++] = number;
    },
    append(numbers) {
      reserve(length + numbers.length);
      room.set(numbers, length);
      length += numbers.length;
    },
    clear() {
      length = 0;
    },
    view: () => room.subarray(0, length),
  };
}
