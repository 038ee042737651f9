/** Providers of models with addresses that lead where a test says. */
import { type AddressBook, SYSTEM_ADDRESSES } from "@metier/sandbox/egress";
import { type HttpReply, type OpenOptions, openService, type TestService } from "./open-service.ts";

/** Names that lead where a test says; addresses are judged as they are. */
export function leading(names: Readonly<Record<string, readonly string[]>>): AddressBook {
  return { ...SYSTEM_ADDRESSES, resolve: async (host) => names[host] ?? [] };
}

export const PUBLIC = leading({ "models.acme.example": ["93.184.216.34"], "inner.example": ["127.0.0.1"] });
export const EGRESS = { privateHosts: [], addresses: PUBLIC };
export const ACME = {
  kind: "openai-compatible",
  baseUrl: "https://models.acme.example/v1",
  secret: "ACME_KEY",
} as const;

export async function openWithSecret(options: OpenOptions = {}, open = openService): Promise<TestService> {
  const service = await open({ egress: EGRESS, ...options });
  await service.call("PUT", "/v1/secrets/ACME_KEY", { body: { value: "sk-very-secret" } });
  return service;
}

export function putProvider(
  service: TestService,
  name: string,
  body: object,
  key?: string,
): Promise<HttpReply> {
  return service.call("PUT", `/v1/providers/${name}`, { body: body as never, ...(key && { key }) });
}
