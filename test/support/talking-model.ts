/** A model that answers by what it is asked, for tests in which several runs go on at the same time. */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { giveStream, giveWhole, type PreparedAnswer, recordMessages, systemText } from "@metier/run/model";

export interface Asked {
  readonly system: string;
  /** All texts of the user. */
  readonly user: string;
  /** Results of tools, in order. */
  readonly results: readonly string[];
}

export interface Said {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly input: object }[];
}

export function createTalkingModel(answer: (asked: Asked) => Said | string): LanguageModelV4 {
  const prepare = ({ prompt }: LanguageModelV4CallOptions): PreparedAnswer => {
    const messages = recordMessages(prompt);
    const parts = messages.flatMap(({ role, parts: own }) => own.map((part) => ({ role, part })));
    const said = answer({
      system: systemText(prompt) ?? "",
      user: parts
        .flatMap(({ role, part }) => (role === "user" && part.type === "text" ? [part.text] : []))
        .join("\n"),
      results: parts.flatMap(({ part }) => (part.type === "tool-result" ? [part.text] : [])),
    });
    const { text = "", calls = [] } = typeof said === "string" ? { text: said } : said;
    return {
      id: `text-${messages.length}`,
      parts: [
        ...(text === "" ? [] : [{ type: "text", text } as const]),
        ...calls.map(({ tool, input }, index) => ({
          type: "tool-call" as const,
          callId: `call-${messages.length}-${index}`,
          tool,
          input: JSON.stringify(input),
        })),
      ],
      finishReason: calls.length > 0 ? "tool-calls" : "stop",
      usage: { inputTokens: 10, outputTokens: 5 },
    };
  };
  return {
    specificationVersion: "v4",
    provider: "test",
    modelId: "talking",
    supportedUrls: {},
    doGenerate: async (options) => giveWhole(prepare(options)),
    doStream: async (options) => giveStream(prepare(options), options.abortSignal),
  };
}
