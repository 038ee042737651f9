/** Both streams of a process, kept up to a size; what comes after it is counted, so that nothing is lost unsaid. */

export interface KeptOutput {
  /** Takes what a stream brought. */
  take(stream: "stdout" | "stderr", chunk: Uint8Array): void;
  text(stream: "stdout" | "stderr"): string;
  droppedBytes(): number;
}

export function keepOutput(maxBytes: number): KeptOutput {
  const kept = { stdout: emptyStream(), stderr: emptyStream() };
  return {
    take(name, chunk) {
      const stream = kept[name];
      const part = chunk.subarray(0, Math.max(0, maxBytes - stream.bytes));
      if (part.length > 0) stream.chunks.push(part);
      stream.bytes += part.length;
      stream.dropped += chunk.length - part.length;
    },
    text(name) {
      const { chunks, dropped } = kept[name];
      // A character that the cut went through is left out instead of being shown as a fault.
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(chunks), {
        stream: dropped > 0,
      });
    },
    droppedBytes: () => kept.stdout.dropped + kept.stderr.dropped,
  };
}

function emptyStream(): { readonly chunks: Uint8Array[]; bytes: number; dropped: number } {
  return { chunks: [], bytes: 0, dropped: 0 };
}
