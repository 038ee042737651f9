/**
 * Replaces the AI SDK's gateway client in the bundle: it serves models named only by a string, which Metier never
 * uses, and it contains CommonJS that a bundle of modules can't load.
 */
class NeverThrown extends Error {
  static isInstance() {
    return false;
  }
}

export { NeverThrown as GatewayAuthenticationError, NeverThrown as GatewayError };

export function createGateway() {
  throw new Error("This build has no gateway: pass a model object instead of a name.");
}

export const gateway = { languageModel: createGateway };
