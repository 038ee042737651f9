/** Named filters as links: the built-in ones, and those kept in this browser. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { TextField } from "../design/field.tsx";
import { showUnseen } from "../design/text.tsx";
import { linkTo } from "../state/address.ts";
import { isNarrowed, type ListedRunFilter } from "./filter-runs.ts";
import { addSaved, BUILT_IN, isSameFilter, readSaved, type SavedFilter } from "./saved-filters.ts";

const KEY = "metier-run-filters";
const saved = signal<readonly SavedFilter[]>(readStored());

function readStored(): readonly SavedFilter[] {
  try {
    return readSaved(localStorage.getItem(KEY));
  } catch {
    return []; // A page from a file may have no storage.
  }
}

function keep(filters: readonly SavedFilter[]): void {
  saved.value = filters;
  try {
    localStorage.setItem(KEY, JSON.stringify(filters));
  } catch {
    // It lasts until the page is closed.
  }
}

export function SavedFilterBar({ filter }: { readonly filter: ListedRunFilter }) {
  const [isNaming, setNaming] = useState(false);
  const own = saved.value.find((one) => isSameFilter(one, filter));
  const isKnown = own !== undefined || BUILT_IN.some((one) => isSameFilter(one, filter));
  return (
    <div class="row saved-filters">
      <FilterLink name="All" query={{}} isCurrent={!isNarrowed(filter)} />
      {[...BUILT_IN, ...saved.value].map((one) => (
        <FilterLink key={one.name} name={one.name} query={one.query} isCurrent={isSameFilter(one, filter)} />
      ))}
      {isNarrowed(filter) && !isKnown && (
        <Button kind="quiet" onPress={() => setNaming(true)}>
          Save this filter…
        </Button>
      )}
      {own && (
        <Button kind="quiet" onPress={() => keep(saved.value.filter((one) => one !== own))}>
          Delete this filter
        </Button>
      )}
      {isNaming && <NameDialog filter={filter} onClose={() => setNaming(false)} />}
    </div>
  );
}

interface FilterLinkProps {
  readonly name: string;
  readonly query: Readonly<Record<string, string>>;
  readonly isCurrent: boolean;
}

function FilterLink({ name, query, isCurrent }: FilterLinkProps) {
  return (
    <a class="chip" href={linkTo(["runs"], query)} aria-current={isCurrent ? "true" : undefined}>
      {showUnseen(name)}
    </a>
  );
}

function NameDialog({ filter, onClose }: { readonly filter: ListedRunFilter; onClose(): void }) {
  const [name, setName] = useState("");
  return (
    <Dialog title="Save this filter" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() === "") return;
          keep(addSaved(saved.value, name, filter));
          onClose();
        }}
      >
        <TextField label="Name" value={name} onInput={setName} hint="Saved in this browser." />
        <div class="row">
          <Button type="submit" kind="accent" isDisabled={name.trim() === ""}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
