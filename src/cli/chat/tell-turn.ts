/** One message and its answer, as a person sees them; a Ctrl-C meanwhile cancels the answer, a second one leaves. */
import { CancelledError } from "../../foundation/errors.ts";
import type { Chat, ChatOptions, ChatTurn } from "../../run/chat.ts";
import { type CliContext, err } from "../context.ts";
import { diagnosticText } from "../output/diagnostics-text.ts";
import { safeText, styleFor } from "../output/style.ts";
import { type QuestionFlags, questionsFor } from "../run/questions.ts";
import { createTurnPrinter } from "./turn-printer.ts";

/** `left`: the user did not wait for the end. */
export type Teller = (chat: Chat, text: string) => Promise<ChatTurn | "left">;

export interface TurnTeller {
  readonly tell: Teller;
  /** What a chat needs so that this teller hears it and is asked by it. */
  readonly options: Pick<ChatOptions, "approve" | "askUser" | "confirm" | "onEvent">;
}

export interface TellerOptions extends QuestionFlags {
  /** Whether the answer is written as it comes. */
  readonly streams: boolean;
}

export function createTeller(context: CliContext, options: TellerOptions): TurnTeller {
  const { io } = context;
  const style = styleFor(io.color);
  const printer = createTurnPrinter({ io, style, streams: options.streams });
  /** Warnings that hold for all turns are said once. */
  const said = new Set<string>();
  let current = new AbortController();
  const asking: CliContext = {
    ...context,
    io: {
      ...io,
      async ask(question) {
        try {
          return await io.ask(question, current.signal);
        } catch (fault) {
          // Ctrl-C at a question means the turn, not the question alone.
          if (fault instanceof CancelledError) current.abort(fault);
          throw fault;
        }
      },
    },
  };

  const finish = ({ diagnostics, notice }: ChatTurn): void => {
    if (options.json) return;
    const fresh = diagnostics
      .map((diagnostic) => diagnosticText(diagnostic, style))
      .filter((text) => !said.has(text));
    for (const text of fresh) said.add(text);
    err(context, fresh.join("\n"));
    if (notice !== undefined) err(context, style.yellow(safeText(notice)));
  };

  return {
    options: {
      ...questionsFor(asking, options),
      ...(!options.json && { onEvent: (event) => printer.event(event) }),
    },
    async tell(chat, text) {
      current = new AbortController();
      const { promise: left, resolve: leave } = Promise.withResolvers<"left">();
      let stop = io.onInterrupt(() => {
        printer.interrupted();
        current.abort(new CancelledError());
        stop();
        stop = io.onInterrupt(() => leave("left"));
      });
      try {
        const turn = await Promise.race([chat.send(text, { signal: current.signal }), left]);
        printer.end();
        if (turn !== "left") finish(turn);
        return turn;
      } finally {
        stop();
        current.abort(); // A question that nobody needs an answer to any more.
      }
    },
  };
}
