/**
 * Type a request and name the skill that should get it: shows which skill wins, and which words the other one lacks.
 */
import type { ApiHit, ApiRoutingWhy } from "@metier/service/api";
import { Badge } from "../design/badge.tsx";
import { ChoiceField, TextField } from "../design/field.tsx";
import { Answered, Notice } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { showUnseen } from "../design/text.tsx";
import { address, changeQuery, linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { formatPercent } from "../state/format.ts";
import { useSettled } from "../state/settled.ts";

export function WhyNot({ names }: { readonly names: readonly string[] }) {
  const { query } = address.value;
  const request = query.get("q") ?? "";
  const skill = query.get("skill") ?? names[0] ?? "";
  const asked = useSettled(request.trim());
  const path = asked === "" ? undefined : `/v1/routing/why?${new URLSearchParams({ q: asked, skill })}`;
  const known = useAnswer<ApiRoutingWhy>(path);
  return (
    <Section title="What would make a skill win?">
      <div class="filters">
        <div class="wide">
          <TextField
            label="Request"
            value={request}
            placeholder="Write the release notes"
            isSearch
            onInput={(q) => changeQuery({ q })}
          />
        </div>
        <ChoiceField
          label="Should reach"
          value={skill}
          options={names}
          onChange={(name) => changeQuery({ skill: name })}
        />
      </div>
      {path !== undefined && (
        <Answered known={known} path={path}>
          {(why) => <Why why={why} />}
        </Answered>
      )}
    </Section>
  );
}

function Why({ why: { skill, rank, winner, hit, lacks } }: { readonly why: ApiRoutingWhy }) {
  if (rank === 1) {
    return (
      <Notice tone="good" title={`${showUnseen(skill)} wins this request.`}>
        {hit && <Words hit={hit} />}
      </Notice>
    );
  }
  return (
    <Notice
      tone="warn"
      title={`${showUnseen(skill)} ${rank === undefined ? "is not found" : `is number ${rank}`}.`}
    >
      {winner && (
        <p>
          <a href={linkTo(["skill", winner.name])}>{showUnseen(winner.name)}</a> wins. <Words hit={winner} />
        </p>
      )}
      {lacks.length > 0 && (
        <p>
          Words that would help in its description:{" "}
          {lacks.map(({ word, gain }) => (
            <Badge key={word} tone="accent" title={`worth ${formatPercent(gain)} of the score`}>
              {showUnseen(word)}
            </Badge>
          ))}
        </p>
      )}
    </Notice>
  );
}

function Words({ hit: { words } }: { readonly hit: ApiHit }) {
  return (
    <span class="row">
      {words.map(({ word, fields, share }) => (
        <Badge key={word} title={`${formatPercent(share)} of the score`}>
          {showUnseen(word)} in {fields.join(", ")}
        </Badge>
      ))}
    </span>
  );
}
