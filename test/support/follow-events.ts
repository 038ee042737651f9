/** Reads an event stream as a client does: numbers and types, up to its end, a cut, or so many events. */

/** Of services in tests. */
export const ADMIN_KEY = "an-admin-key-for-tests-only";

export interface SeenEvents {
  readonly ids: number[];
  readonly types: string[];
}

interface FollowOptions {
  readonly most?: number;
  /** Sent as `Last-Event-ID`. */
  readonly after?: number | undefined;
}

/** The status; a stream that breaks is no fault, a connection that cannot be had is. */
export async function followEvents(
  url: string,
  seen: SeenEvents,
  options: FollowOptions = {},
): Promise<number> {
  const { most = Number.POSITIVE_INFINITY, after } = options;
  const cut = new AbortController();
  const response = await fetch(url, {
    signal: cut.signal,
    headers: {
      authorization: `Bearer ${ADMIN_KEY}`,
      ...(after !== undefined && { "Last-Event-ID": String(after) }),
    },
  });
  if (response.body === null || response.status !== 200) return response.status;
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const id = /^id: (\d+)$/m.exec(block)?.[1];
        if (id === undefined || seen.ids.length >= most) continue;
        seen.ids.push(Number(id));
        seen.types.push(JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "{}").type);
      }
      if (seen.ids.length >= most) cut.abort();
    }
  } catch {
    // It was cut, here or by the server.
  }
  return response.status;
}

/** 1, 2, 3 … */
export function upTo(last: number): readonly number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
