/** Text of a file inside a message: on one line, and cut when it is long. */
export function shorten(text: string, most = 60): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
