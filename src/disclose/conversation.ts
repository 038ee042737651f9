/**
 * What one conversation has been given already: a skill that is activated again with the same text is answered with one
 * sentence instead of the whole text. Knows nothing about messages; `protect.ts` keeps the text from being compacted.
 */
import { escapeXml } from "./escape-xml.ts";
import { type Activation, WRAPPER } from "./protect.ts";

export interface Conversation {
  /** What was given out, in order; give it to `createConversation` to go on later. */
  readonly activations: readonly Activation[];
  /**
   * Records the activation. `wrapped` when this text is new to the conversation, also when a skill has changed since;
   * a short answer when it is there already.
   */
  activate(activation: Activation, wrapped: string): ActivationAnswer;
  /** The text is gone from the conversation, so that the next activation gives it again. */
  forget(name: string): void;
}

export interface ActivationAnswer {
  readonly text: string;
  readonly repeated: boolean;
}

export function createConversation(earlier: readonly Activation[] = []): Conversation {
  let activations: readonly Activation[] = [...earlier];
  return {
    get activations() {
      return activations;
    },
    activate({ name, digest }, wrapped) {
      // The last text of a skill counts: one that was changed and changed back is given again.
      const last = activations.findLast((activation) => activation.name === name);
      if (last?.digest === digest) return { text: answerRepeated(name), repeated: true };
      activations = [...activations, { name, digest }];
      return { text: wrapped, repeated: false };
    },
    forget(name) {
      activations = activations.filter((activation) => activation.name !== name);
    },
  };
}

function answerRepeated(name: string): string {
  const shown = escapeXml(name);
  return `<${WRAPPER} name="${shown}" repeated="true">The instructions of \`${shown}\` are in this conversation already and have not changed: follow them.</${WRAPPER}>`;
}
