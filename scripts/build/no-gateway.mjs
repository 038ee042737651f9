/**
 * Stands in for the AI SDK's gateway client in the bundle: it serves models that are named by a string alone, which
 * Metier never does, and it brings CommonJS that a bundle of modules cannot load.
 */
class NeverThrown extends Error {
  static isInstance() {
    return false;
  }
}

export { NeverThrown as GatewayAuthenticationError, NeverThrown as GatewayError };

export function createGateway() {
  throw new Error("This build has no gateway: give a model object instead of a name.");
}

export const gateway = { languageModel: createGateway };
