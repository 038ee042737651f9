/** Type a request to see which skill wins it and why, what a model is told, and what a run would do. Then run it. */
import { TextField } from "../design/field.tsx";
import { ViewPage } from "../design/page.tsx";
import { ListingPanel } from "../playground/listing.tsx";
import { SkillRanking } from "../playground/ranking.tsx";
import { StartRun } from "../playground/start-run.tsx";
import { address, changeQuery } from "../state/address.ts";
import { useKeys } from "../state/keys.ts";

export function Playground() {
  const { query } = address.value;
  const request = query.get("q") ?? "";
  const skill = query.get("skill");
  useKeys([
    {
      keys: "n",
      about: "Choose no skill",
      group: "Playground",
      act: () => changeQuery({ skill: undefined }),
    },
    { keys: "s", about: "Go to the run’s form", group: "Playground", act: focusForm },
  ]);
  return (
    <ViewPage
      title="Playground"
      lead="See which skill a request reaches, and what a run would do, before you start it."
    >
      <TextField
        label="Request"
        rows={2}
        isSearch
        value={request}
        placeholder="Write release notes for version 1.3"
        hint="Also used as the run's message."
        onInput={(q) => changeQuery({ q })}
      />
      <div class={skill === undefined ? "playground" : "playground chosen"}>
        <div class="playground-ranking">
          <SkillRanking request={request} chosen={nameOf(skill)} />
        </div>
        {skill !== undefined && (
          <div class="playground-run">
            <StartRun key={skill} skill={skill} request={request} />
          </div>
        )}
        <div class="playground-listing">
          <ListingPanel />
        </div>
      </div>
    </ViewPage>
  );
}

function focusForm(): void {
  document.querySelector<HTMLElement>(".playground-run :is(input, select, textarea, button)")?.focus();
}

/** The name in `scope:name`, or a plain name. */
function nameOf(skill: string | undefined): string | undefined {
  return skill?.split(":").at(-1);
}
