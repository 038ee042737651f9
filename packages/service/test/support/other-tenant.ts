/** Another tenant of a service, and keys of it. */
import { KEY_SCOPES, type KeyScope } from "../../src/keys/scopes.ts";
import type { TestService } from "./open-service.ts";

export interface OtherTenant {
  readonly id: string;
  /** With all scopes, unless told. */
  makeKey(scopes?: readonly KeyScope[], userId?: string): Promise<string>;
}

export async function addTenant(service: TestService, name: string): Promise<OtherTenant> {
  const { id: tenant } = await service.makeTenant(name);
  return {
    id: tenant,
    makeKey: (scopes = KEY_SCOPES, userId) => service.makeKey(scopes, { tenant, ...(userId && { userId }) }),
  };
}
