/** The whole egress gate, for every way out: what a URL says, then where its host leads. */
import { checkUrl } from "./check-url.ts";
import type { EgressFault } from "./egress-fault.ts";
import { type AddressBook, resolvePublic } from "./resolve-public.ts";

export type DestinationOutcome =
  | {
      readonly ok: true;
      readonly url: URL;
      /** Checked: these and no others may be dialled. */
      readonly addresses: readonly string[];
    }
  | EgressFault;

export async function checkDestination(
  text: string,
  network: readonly string[],
  book: AddressBook,
): Promise<DestinationOutcome> {
  const checked = checkUrl(text, network);
  if (!checked.ok) return checked;
  const resolved = await resolvePublic(checked.host, book);
  return resolved.ok ? { ok: true, url: checked.url, addresses: resolved.addresses } : resolved;
}
