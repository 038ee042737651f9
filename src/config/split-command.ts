/** A command written as one text: words apart by blanks, quotes keep blanks together. Nothing else is special. */
const WORD = /(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g;
const PART = /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)|([^\s"'\\]+)/g;

/** `undefined` when a quote is not closed. */
export function splitCommand(text: string): readonly string[] | undefined {
  if (text.replace(WORD, "").trim() !== "") return undefined;
  return (text.match(WORD) ?? []).map((word) =>
    word.replace(
      PART,
      (_, double?: string, single?: string, escaped?: string, plain?: string) =>
        double?.replace(/\\(.)/g, "$1") ?? single ?? escaped ?? plain ?? "",
    ),
  );
}
