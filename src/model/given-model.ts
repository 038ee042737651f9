/**
 * A model of the AI SDK 7 as the embedding program gives it (`LanguageModelV4`), by the parts that tell one: so the
 * library's types need none of the SDK's, and the program's copy of it need not be ours.
 */
export interface GivenModel {
  readonly specificationVersion: "v4";
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: unknown;
  doGenerate(options: never): PromiseLike<unknown>;
  doStream(options: never): PromiseLike<unknown>;
}

/** By alias; `default` is taken when nothing is named. A text is the name of a model. */
export type GivenModels = Readonly<Record<string, GivenModel | string>>;
