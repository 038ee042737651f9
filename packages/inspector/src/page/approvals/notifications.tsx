/** Desktop notifications when something waits and the page is hidden, only after the user allows them here. */
import type { ApiApproval } from "@metier/service/api";
import { signal } from "@preact/signals";
import { Button } from "../design/button.tsx";
import { ask, isExport } from "../state/answers.ts";
import { onChange } from "../state/live.ts";

const permission = signal(typeof Notification === "undefined" ? "unsupported" : Notification.permission);

const told = new Set<string>();

/** Notifies once for each question that waits; an answered one is no news. */
export function watchApprovals(): void {
  onChange(({ kind, id }) => {
    if (kind === "approval" && id !== undefined && !told.has(id)) void tellOf(id);
  });
}

async function tellOf(id: string): Promise<void> {
  if (permission.value !== "granted" || !document.hidden) return;
  const answer = await ask<ApiApproval>(`/v1/approvals/${encodeURIComponent(id)}`);
  if (!answer.ok || answer.value.status !== "pending" || told.has(id)) return;
  told.add(id);
  const notice = new Notification("Metier: approval needed", { tag: "metier-approval" });
  notice.onclick = () => {
    window.focus();
    location.hash = "#/approvals";
  };
}

export function NotificationSwitch() {
  if (isExport || permission.value === "unsupported" || permission.value === "denied") return null;
  if (permission.value === "granted") return <span class="soft small">Notifications are on</span>;
  const allow = async (): Promise<void> => {
    permission.value = await Notification.requestPermission();
  };
  return <Button onPress={() => void allow()}>Notify me on the desktop</Button>;
}
