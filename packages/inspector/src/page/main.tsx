/** The start of the page. */
import { render } from "preact";
import "./design/tokens.css";
import "./design/base.css";
import "./design/components.css";
import "./design/shell.css";
import "./views/views.css";
import { App } from "./app.tsx";
import { watchApprovals } from "./approvals/notifications.tsx";
import { findMe, isExport } from "./state/answers.ts";
import { followChanges } from "./state/live.ts";

async function start(): Promise<void> {
  if (!isExport) await findMe();
  const place = document.getElementById("app");
  if (place) render(<App />, place);
  followChanges();
  watchApprovals();
}

void start();
