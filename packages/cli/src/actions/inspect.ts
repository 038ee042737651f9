/** `metier inspect`: opens the inspector for the user's own home in their browser, until they stop it. */
import { EXIT, UsageError } from "@metier/base/errors";
import { presentFields } from "@metier/base/json";
import { allowForGood } from "@metier/skills/config";
import type { Action, CommonFlags } from "../commands/define.ts";
import type { InspectFlags } from "../commands/doing.ts";
import { type CliContext, endWith, err, listenTwice, out, outJson, STOPPING } from "../context.ts";
import { homeFolder, openMetier, readCaller, workingDirectory } from "../open-metier.ts";
import { requireInspectorPage } from "./inspector-page.ts";
import { hasDisplay, openBrowser } from "./open-browser.ts";

const LAST_PORT = 65_535;

export const inspectAction: Action<InspectFlags> = async (context, flags) => {
  const port = readPort(flags.port);
  const page = await requireInspectorPage();
  const metier = await openMetier(context, flags);
  // The service and its libraries are large, and few commands need them.
  const { startInspect } = await import("@metier/service");
  const started = await startInspect({
    ...presentFields({ port, home: homeFolder(context, flags) }),
    cwd: workingDirectory(context, flags),
    environment: context.io.environment,
    caller: { ...readCaller({}), chatId: "inspect" },
    page,
    open: (more) => openMetier(context, flags, more),
    ...(flags.allowEdit && {
      rules: { mayEdit: () => true, allow: (patterns) => allowForGood(metier.places.configFile, patterns) },
    }),
  });
  if (!started.ok) {
    const { message, hint } = started.refusal;
    err(context, [message, hint].filter(Boolean).join("\n"));
    endWith(context, EXIT.prerequisite);
    return;
  }
  const { address, makeAddress, noRuns, stop } = started.value;
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<void>();
  const { release } = listenTwice(context.io, interrupt);
  try {
    tell(context, flags, address, noRuns);
    if (!flags.noOpen && !flags.json && hasDisplay(context)) {
      // Not awaited: a browser may stay open for long. If none opens, the user has the address.
      openBrowser(context, metier, makeAddress()).catch(() => undefined);
    }
    await interrupted;
    if (!flags.json) err(context, STOPPING);
    await stop();
  } finally {
    release();
  }
};

function tell(
  context: CliContext,
  { json }: Pick<CommonFlags, "json">,
  address: string,
  noRuns: string | undefined,
): void {
  if (json) {
    outJson(context, presentFields({ url: address, noRuns }));
    return;
  }
  err(context, "Anyone with this address can use the inspector, so keep it private:");
  out(context, address);
  if (noRuns !== undefined) err(context, noRuns);
  err(context, "Press Ctrl-C to stop.");
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= LAST_PORT) return port;
  throw new UsageError(`\`--port ${text}\` is not a number from 0 to ${LAST_PORT}.`, {
    hint: "Pass a whole number, such as `--port 8080`; 0 picks a free port.",
  });
}
