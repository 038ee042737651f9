/** Parts of a page, one shown at a time; the address holds which one (`?tab=`). Arrow keys move between them. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { address, changeQuery } from "../state/address.ts";

export interface Tab {
  readonly id: string;
  readonly title: string;
  /** How many things are in it. */
  readonly count?: number | undefined;
  render(): ComponentChildren;
}

export function Tabs({
  tabs,
  label,
  query = "tab",
}: {
  readonly tabs: readonly Tab[];
  readonly label: string;
  readonly query?: string;
}) {
  const wanted = address.value.query.get(query);
  const current = tabs.find(({ id }) => id === wanted) ?? tabs[0];
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => showChosen(list.current), [current?.id]);
  if (current === undefined) return null;
  const choose = (id: string | undefined): void =>
    changeQuery({ [query]: id === tabs[0]?.id ? undefined : id });
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = tabs.at((tabs.indexOf(current) + step) % tabs.length);
    choose(next?.id);
    if (event.currentTarget instanceof HTMLElement)
      event.currentTarget.querySelector<HTMLElement>(`#tab-${next?.id}`)?.focus();
  };
  return (
    <div class="stack">
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown} ref={list}>
        {tabs.map(({ id, title, count }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`tab-${id}`}
            aria-selected={id === current.id}
            aria-controls="tab-panel"
            tabIndex={id === current.id ? 0 : -1}
            onClick={() => choose(id)}
          >
            {title}
            {count !== undefined && <span class="count">{count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${current.id}`} tabIndex={0} class="stack">
        {current.render()}
      </div>
    </div>
  );
}

/** If there is no room for all tabs, scrolls the chosen one to the middle. */
function showChosen(list: HTMLElement | null): void {
  const chosen = list?.querySelector("[aria-selected=true]");
  if (!list || !chosen) return;
  const [own, outer] = [chosen.getBoundingClientRect(), list.getBoundingClientRect()];
  list.scrollLeft += own.left - outer.left - (outer.width - own.width) / 2;
}
