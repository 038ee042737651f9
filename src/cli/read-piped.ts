/** A value that is piped into the command, so that it stands in no command line, where other users could read it. */
import { UsageError } from "../foundation/errors.ts";
import type { CliContext } from "./context.ts";

const MAX_BYTES = 10 * 1024 * 1024;

export async function readPiped({ io }: CliContext, flag: string): Promise<string> {
  const piped = io.input?.();
  if (piped === undefined) throw new UsageError(`\`${flag} -\` reads what is piped in, and nothing is.`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of piped) {
    const part = Buffer.from(chunk as Uint8Array | string);
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new UsageError(`\`${flag} -\` reads at most ${MAX_BYTES} bytes.`);
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString("utf8");
}
