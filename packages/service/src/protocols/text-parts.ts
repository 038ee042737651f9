/** A text sent in pieces, for protocols that open and close each part of it under an id. */

interface TextWords<Told> {
  start(id: string): Told;
  piece(id: string, delta: string): Told;
  end(id: string): Told;
}

interface TextParts<Told> {
  /** Opens a part if none is open. */
  add(delta: string): readonly Told[];
  end(): readonly Told[];
}

/** `prefix`: comes before the number in each id, so that a message that continues gets new ids. */
export function openTextParts<Told>(prefix: string, words: TextWords<Told>): TextParts<Told> {
  let count = 0;
  let open: string | undefined;
  return {
    add(delta) {
      if (open !== undefined) return [words.piece(open, delta)];
      count += 1;
      open = `${prefix}-${count}`;
      return [words.start(open), words.piece(open, delta)];
    },
    end() {
      const id = open;
      open = undefined;
      return id === undefined ? [] : [words.end(id)];
    },
  };
}
