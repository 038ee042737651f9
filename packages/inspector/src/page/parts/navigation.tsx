/** The bar at the side, or at the top of a narrow screen: views, waiting approvals, and the color scheme. */

import type { ApiApproval, ApiList } from "@metier/service/api";
import { signal } from "@preact/signals";
import { Button } from "../design/button.tsx";
import { linkTo } from "../state/address.ts";
import { isExport, me, signOut, useAnswer } from "../state/answers.ts";
import { connection } from "../state/live.ts";
import { openViews } from "../views/all-views.ts";

/** Path parts that belong to a navigation entry. */
const PARENTS: Readonly<Record<string, string>> = { skill: "skills", run: "runs", compare: "runs" };

const PENDING_APPROVALS = "/v1/approvals?status=pending";

export function Navigation({ current, onHelp }: { readonly current: string; onHelp(): void }) {
  const waiting =
    useAnswer<ApiList<ApiApproval>>(isExport ? undefined : PENDING_APPROVALS).value?.data.length ?? 0;
  const open = PARENTS[current] ?? current;
  return (
    <nav class="navigation" aria-label="Main">
      <a class="brand" href="#/skills">
        Metier
      </a>
      {!isExport && (
        <ul>
          {openViews(me.value).map(({ id, title, key, isFor }) => (
            <li key={id} class={isFor && "operate"}>
              <a href={linkTo([id])} aria-current={id === open ? "page" : undefined} title={`g ${key}`}>
                {title}
                {id === "approvals" && waiting > 0 && <span class="count waiting">{waiting}</span>}
              </a>
            </li>
          ))}
        </ul>
      )}
      <div class="navigation-foot">
        <span class={`dot ${connection.value}`} role="status">
          {CONNECTIONS[connection.value]}
        </span>
        <Button kind="quiet" onPress={changeTheme} title="Light, dark, or like your system">
          {THEMES[theme.value]}
        </Button>
        <Button kind="quiet" onPress={onHelp} title="Keys (?)">
          Keys
        </Button>
        {me.value?.mode === "serve" && (
          <Button kind="quiet" onPress={() => void signOut()}>
            Sign out
          </Button>
        )}
      </div>
    </nav>
  );
}

const CONNECTIONS = { live: "Live", lost: "Not connected", export: "Export" } as const;
const THEMES = { system: "System colors", light: "Light colors", dark: "Dark colors" } as const;
type Theme = keyof typeof THEMES;
const KEY = "metier-theme";

const theme = signal<Theme>(readTheme());
showTheme(theme.value);

function readTheme(): Theme {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === "light" || kept === "dark" ? kept : "system";
  } catch {
    return "system"; // A page from a file may have no storage.
  }
}

function changeTheme(): void {
  const order: readonly Theme[] = ["system", "light", "dark"];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? "system";
  showTheme(theme.value);
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // It lasts until the page is closed.
  }
}

function showTheme(chosen: Theme): void {
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}
