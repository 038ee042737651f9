/** Notices of the desktop when something waits and the page is not looked at: only after somebody allows them here. */
import { signal } from "@preact/signals";
import { Button } from "../design/button.tsx";
import { isExport } from "../state/answers.ts";
import { onChange } from "../state/live.ts";

const permission = signal(typeof Notification === "undefined" ? "unsupported" : Notification.permission);

onChange(({ kind }) => {
  if (kind !== "approval" || permission.value !== "granted" || !document.hidden) return;
  const notice = new Notification("Metier: something waits for your approval", { tag: "metier-approval" });
  notice.onclick = () => {
    window.focus();
    location.hash = "#/approvals";
  };
});

export function NotificationSwitch() {
  if (isExport || permission.value === "unsupported" || permission.value === "denied") return null;
  if (permission.value === "granted") return <span class="soft small">Notices are on</span>;
  const allow = async (): Promise<void> => {
    permission.value = await Notification.requestPermission();
  };
  return <Button onPress={() => void allow()}>Tell me on the desktop</Button>;
}
