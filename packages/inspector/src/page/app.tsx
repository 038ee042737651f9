/** The whole page: navigation, the current view, and what applies everywhere (keys, connection, sign-in). */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "./design/button.tsx";
import { Empty, Notice } from "./design/notice.tsx";
import { ViewPage } from "./design/page.tsx";
import { KeyHelp } from "./parts/key-help.tsx";
import { Navigation } from "./parts/navigation.tsx";
import { address, goTo } from "./state/address.ts";
import { isExport, me, wantsSignIn } from "./state/answers.ts";
import { useKeys } from "./state/keys.ts";
import { connection } from "./state/live.ts";
import { openViews, VIEWS, type View, type ViewProps } from "./views/all-views.ts";
import { SignInView } from "./views/sign-in.tsx";

const isHelpOpen = signal(false);
const loaded = new Map<string, ComponentType<ViewProps>>();

export function App() {
  useKeys(
    [
      { keys: "?", about: "Show these keys", group: "Everywhere", act: () => (isHelpOpen.value = true) },
      { keys: "/", about: "Search on this page", group: "Everywhere", act: focusSearch },
      ...openViews(me.value).map(({ id, title, key }) => ({
        keys: `g ${key}`,
        about: `Go to ${title}`,
        group: "Go to",
        act: () => goTo([id]),
      })),
    ],
    [me.value?.keyId],
  );
  if (wantsSignIn.value) return <SignInView />;
  const { path } = address.value;
  const [id = "skills", ...rest] = path;
  const view = VIEWS.find((one) => one.id === id);
  return (
    <div class={isExport ? "shell export" : "shell"}>
      <button type="button" class="skip" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <Navigation current={id} onHelp={() => (isHelpOpen.value = true)} />
      <main id="main" tabIndex={-1}>
        {connection.value === "lost" && (
          <Notice tone="warn" title="The server doesn't answer.">
            <p>This page may be out of date. Reconnecting…</p>
          </Notice>
        )}
        {view ? <OpenView key={path.slice(0, 2).join("/")} view={view} rest={rest} /> : <Unknown />}
      </main>
      {isHelpOpen.value && <KeyHelp onClose={() => (isHelpOpen.value = false)} />}
    </div>
  );
}

function OpenView({ view, rest }: { readonly view: View; readonly rest: readonly string[] }) {
  const [, redraw] = useState(0);
  const [fault, setFault] = useState(false);
  const Shown = loaded.get(view.id);
  useEffect(() => {
    if (Shown) return;
    view.load().then(
      (component) => {
        loaded.set(view.id, component);
        redraw((count) => count + 1);
      },
      () => setFault(true),
    );
  }, [view.id, Shown]);
  if (Shown) return <Shown rest={rest} />;
  if (!fault) return <p class="soft loading">Loading…</p>;
  return (
    <Notice tone="bad" title="This part of the page could not be loaded.">
      <p>The server may be down, or may have a newer version.</p>
      <div class="row">
        <Button onPress={() => location.reload()}>Reload the page</Button>
      </div>
    </Notice>
  );
}

function Unknown() {
  return (
    <ViewPage title="Nothing here">
      <Empty title="This address leads nowhere.">
        <p>
          <a href="#/skills">See all skills</a>
        </p>
      </Empty>
    </ViewPage>
  );
}

function focusSearch(): void {
  document.querySelector<HTMLElement>("[data-search]")?.focus();
}
