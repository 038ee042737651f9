/** `metier capability list` and `providers`: what there is, where it comes from, and what is wrong with it. */
import { readCaller } from "../caller-flags.ts";
import { err, out, outJson } from "../context.ts";
import { capabilitiesText, faultText, providersText } from "../output/capabilities-text.ts";
import { safeLine, styleFor } from "../output/style.ts";
import { type ActionRequest, takeWords, untilInterrupted } from "./capability-action.ts";
import { reportCapabilityFault } from "./report-fault.ts";

const NONE = `Nothing is there. \`metier capability providers\` shows where capabilities come from, and
\`metier capability list --all\` also those that are not for this chat.`;

/** A provider that failed is why something is missing here, so it is said here too. */
export async function listCapabilities({ context, flags, metier, words }: ActionRequest): Promise<void> {
  takeWords("list [--all]", words, []);
  const { capabilities } = metier;
  const [listed, providers] = await untilInterrupted(context, () =>
    Promise.all([capabilities.list(readCaller(flags), { all: flags.all }), capabilities.providers()]),
  );
  if (!listed.ok) {
    reportCapabilityFault(context, flags, listed.fault);
    return;
  }
  const faults = providers.flatMap(({ name, fault }) => (fault ? [{ provider: name, ...fault }] : []));
  if (flags.json) {
    outJson(context, { capabilities: listed.value, faults });
    return;
  }
  if (listed.value.length === 0) err(context, NONE);
  out(context, capabilitiesText(listed.value, styleFor(context.io.color)));
  for (const { provider, ...fault } of faults) {
    err(context, `provider ${safeLine(provider)}: ${faultText(fault)}`);
  }
}

export async function listProviders({ context, flags, metier, words }: ActionRequest): Promise<void> {
  takeWords("providers", words, []);
  const providers = await untilInterrupted(context, () => metier.capabilities.providers());
  if (flags.json) {
    outJson(context, { providers });
    return;
  }
  if (providers.length === 0) {
    err(context, "No provider is configured; `[capabilities.providers.NAME]` with a `command` adds one.");
  }
  out(context, providersText(providers, styleFor(context.io.color)));
}
