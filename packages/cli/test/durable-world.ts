/** A home with one skill and a provider on loopback that makes these tool calls one after the other, then says it is done. */
import { type StreamedAnswer, startStreaming } from "../../../test/support/streaming-provider.ts";
import { createWorld, skill, type World } from "../../../test/support/world.ts";

export interface DurableWorld extends World {
  /** How often the model was asked, by all commands. */
  readonly asked: () => number;
}

type Call = NonNullable<StreamedAnswer["call"]>;

export const WRITES: Call = { tool: "write_file", input: { path: "note.txt", content: "hello" } };

interface DurableWorldOptions {
  /** For the config. */
  readonly more?: string;
  /** The last answer, whenever it is asked for. */
  readonly last?: StreamedAnswer;
}

/** It goes by what is in the conversation, as each process asks anew. */
export async function durableWorld(
  calls: readonly Call[],
  options: DurableWorldOptions = {},
): Promise<DurableWorld> {
  const world = createWorld();
  const provider = await startStreaming((body) => {
    const { messages } = JSON.parse(body) as { messages: readonly { role: string }[] };
    const call = calls[messages.filter(({ role }) => role === "tool").length];
    return call === undefined
      ? (options.last ?? { pieces: ["All", " done."] })
      : { pieces: ["One moment."], call };
  });
  world.write({
    "home/.metier/config.toml": `${provider.toml}${options.more ?? ""}`,
    "home/.metier/skills/writer/SKILL.md": skill("writer"),
  });
  return { ...world, asked: () => provider.requests.length };
}
