/** What an executor is told of its caller, and what it answers with. */

/** Who asks, and from where; `inputData` is input that the caller adds to every call. */
export interface SkillContext {
  readonly sessionId?: string;
  readonly userId?: string;
  readonly chatId?: string;
  /** Skills that are kept to some kinds of chats need to know it. */
  readonly chatType?: string;
  readonly inputData?: Readonly<Record<string, unknown>>;
}

export class SkillResult {
  readonly content: string;
  readonly isError: boolean;
  /** How often the model was asked. */
  readonly iterations: number;

  private constructor(content: string, isError: boolean, iterations: number) {
    this.content = content;
    this.isError = isError;
    this.iterations = iterations;
    Object.freeze(this);
  }

  static success(content: string, iterations = 0): SkillResult {
    return new SkillResult(content, false, iterations);
  }

  static error(message: string, iterations = 0): SkillResult {
    return new SkillResult(message, true, iterations);
  }
}
