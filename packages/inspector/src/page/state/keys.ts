/**
 * The keyboard: which key does what here, as data, so that `?` can list them. Keys are letters or names (`Enter`); two
 * with a space between are pressed one after the other (`g r`). Does nothing while the user types in a field.
 */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

interface KeyBinding {
  readonly keys: string;
  readonly about: string;
  /** The heading under which `?` shows it. */
  readonly group: string;
  act(): void;
}

/** In the order they were added: those of the open view come last, and win. */
export const bindings = signal<readonly KeyBinding[]>([]);

const SEQUENCE_MS = 1_000;
let first: { readonly key: string; readonly until: number } | undefined;

/** `again`: values that the bindings close over. */
export function useKeys(list: readonly KeyBinding[], again: readonly unknown[] = []): void {
  useEffect(() => {
    bindings.value = [...bindings.peek(), ...list];
    return () => {
      bindings.value = bindings.peek().filter((binding) => !list.includes(binding));
    };
  }, again);
}

addEventListener("keydown", (event) => {
  // A key held down counts once: nothing is decided by accident.
  if (event.repeat) return;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event)) return;
  if (document.querySelector("dialog[open]")) return;
  const sequence = first && first.until > Date.now() ? `${first.key} ${event.key}` : undefined;
  first = undefined;
  const binding = findBinding(sequence) ?? findBinding(event.key);
  if (binding) {
    event.preventDefault();
    binding.act();
  } else if (bindings.peek().some(({ keys }) => keys.startsWith(`${event.key} `))) {
    first = { key: event.key, until: Date.now() + SEQUENCE_MS };
  }
});

function findBinding(keys: string | undefined): KeyBinding | undefined {
  return keys === undefined ? undefined : bindings.peek().findLast((binding) => binding.keys === keys);
}

function isWriting({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (
    target.isContentEditable ||
    target.matches("input:not([type=checkbox], [type=range]), textarea, select")
  )
    return true;
  // Enter and the space bar press what has the focus.
  return (key === "Enter" || key === " ") && target.matches("a, button, summary, [role=tab]");
}
