/** An account that a provider says was signed in to: checked like everything a provider answers, then kept. */
import type { JsonObject } from "../capability.ts";
import type { CompletedAuth } from "../capability-broker.ts";
import { type Answer, done, refuse } from "../capability-fault.ts";
import type { AuthorizedAccount, ProviderAccount } from "../capability-provider.ts";
import { checkOutput, findCredential } from "../check-output.ts";
import type { Act } from "./auth-parts.ts";
import type { FlowRecord } from "./flow-record.ts";

const MAX_REF = 256;
const MAX_NAME = 320;

export async function linkAccount(
  act: Act,
  flow: FlowRecord,
  authorized: AuthorizedAccount,
): Promise<Answer<CompletedAuth>> {
  const { parts, caller, now } = act;
  const checked = checkAuthorized(flow.capability, authorized);
  if (!checked.ok) return checked;
  const account = { ...checked.value, createdAt: new Date(now()).toISOString() };
  const { accountRef, accountName, accountEmail } = account;
  act.audit.know({ account: accountRef });
  act.recordIntent();
  await parts.accounts.put(caller.userId, flow.capability, account);
  return done({
    flowId: flow.flowId,
    capability: flow.capability,
    accountRef,
    ...(accountName !== undefined && { accountName }),
    ...(accountEmail !== undefined && { accountEmail }),
  });
}

function checkAuthorized(
  capability: string,
  { accountRef, credentialMaterial, metadata }: AuthorizedAccount,
): Answer<Omit<ProviderAccount, "createdAt">> {
  const source = `of the account that was linked to \`${capability}\``;
  const isRef = typeof accountRef === "string" && accountRef.trim() !== "" && accountRef.length <= MAX_REF;
  if (!isRef || /\p{C}/u.test(accountRef) || findCredential(accountRef)) {
    const message = `The \`account_ref\` ${source} has to be a name of at most ${MAX_REF} characters, all of them visible, and no credential.`;
    return refuse("capability_invalid_output", message);
  }
  const material = checkOutput(`The \`credential_material\` ${source}`, credentialMaterial ?? {});
  if (!material.ok) return material;
  const shown = checkOutput(`The \`metadata\` ${source}`, metadata ?? {});
  if (!shown.ok) return shown;
  return done({
    accountRef,
    ...textField("accountName", shown.value, "account_name"),
    ...textField("accountEmail", shown.value, "account_email"),
    credentialMaterial: material.value,
    metadata: shown.value,
  });
}

function textField<Key extends string>(
  key: Key,
  metadata: JsonObject,
  field: string,
): { readonly [Name in Key]?: string } {
  const given = metadata[field];
  const text = typeof given === "string" ? given.replace(/\p{C}/gu, "").trim().slice(0, MAX_NAME) : "";
  return (text === "" ? {} : { [key]: text }) as { readonly [Name in Key]?: string };
}
