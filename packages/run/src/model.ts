/** The exports of `@metier/run/model`. */

export { findModels, type ModelFindings, whyNotReady } from "./model/find-models.ts";
export {
  giveStream,
  giveWhole,
  type PreparedAnswer,
  recordMessages,
  type StreamedAnswer,
  systemText,
  type WholeAnswer,
} from "./model/messages.ts";
export { BUILT_IN_ALIASES } from "./model/model-aliases.ts";
export type {
  GivenModel,
  GivenModels,
  OwnModels,
  OwnProvider,
  OwnProviderKind,
} from "./model/model-request.ts";
export { listModelOffers, type ModelOffer } from "./model/offer-models.ts";
export { addressOfKind, OWN_PROVIDER_KINDS } from "./model/own-models.ts";
export { PRICES, PRICES_AS_OF } from "./model/prices.ts";
export { openEndpoint } from "./model/providers.ts";
export {
  checkScript,
  checkScriptKeys,
  compareExpectation,
  type Script,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedTurn,
  type TextExpectation,
  type TextPattern,
  type TextRequirements,
  type TurnExpectation,
} from "./model/script.ts";
export { createScriptModel, ScriptMismatchError, type ScriptModel } from "./model/scripted-model.ts";
