/** Names in archives are bytes. Only UTF-8 is taken for a name: any guess would be another file's name somewhere else. */
import { RefusedTree } from "../refused-tree.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function decodeName(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    const shown = Buffer.from(bytes.subarray(0, 60)).toString("latin1");
    const plain = shown.replace(/[^ -~]/g, (character) => {
      return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
    });
    throw new RefusedTree("source.unsafe", `The name \`${plain}\` is not UTF-8.`);
  }
}
