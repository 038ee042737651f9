/** Which skills match the request, and why; one of them is chosen. Without a request: all skills by name. */
import type { ApiCatalog, ApiCatalogSkill, ApiFind } from "@metier/service/api";
import { Button } from "../design/button.tsx";
import { Answered, Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { showUnseen } from "../design/text.tsx";
import { HitList } from "../parts/hit-list.tsx";
import { CATALOG, findPath } from "../parts/skill-paths.ts";
import { address, changeQuery, linkTo } from "../state/address.ts";
import { useAnswer } from "../state/answers.ts";
import { countOf } from "../state/format.ts";
import { useLastKnown, useSettled } from "../state/settled.ts";

const FIRST_HITS = 4;
const MOST_NAMES = 30;

interface RankingProps {
  readonly request: string;
  /** The name of the chosen skill. */
  readonly chosen: string | undefined;
}

export function SkillRanking({ request, chosen }: RankingProps) {
  const asked = useSettled(request.trim());
  return (
    <Section title="Which skill answers">
      {asked === "" ? <AllNames chosen={chosen} /> : <Hits request={asked} chosen={chosen} />}
    </Section>
  );
}

function linkToSkill(skill: string): string {
  return linkTo(address.value.path, { ...Object.fromEntries(address.value.query), skill });
}

function Hits({ request, chosen }: RankingProps) {
  const path = findPath(request);
  const known = useLastKnown(useAnswer<ApiFind>(path));
  const showsAll = address.value.query.get("hits") === "all";
  return (
    <Answered known={known} path={path}>
      {({ data, words }) =>
        data.length === 0 ? (
          <Empty title="No skill has any of these words.">
            {words.length > 0 && <p class="soft">Searched for: {words.map(showUnseen).join(", ")}</p>}
            <p>Use words from a skill’s name or description.</p>
          </Empty>
        ) : (
          <>
            <HitList
              label="Ranking"
              hits={showsAll ? data : data.slice(0, FIRST_HITS)}
              chosen={chosen}
              linkOf={({ name }) => linkToSkill(name)}
            />
            {data.length > FIRST_HITS && (
              <div class="row">
                <Button onPress={() => changeQuery({ hits: showsAll ? undefined : "all" })}>
                  {showsAll ? `Only the best ${FIRST_HITS}` : `All ${data.length}`}
                </Button>
              </div>
            )}
          </>
        )
      }
    </Answered>
  );
}

function AllNames({ chosen }: Pick<RankingProps, "chosen">) {
  const known = useAnswer<ApiCatalog>(CATALOG);
  return (
    <Answered known={known} path={CATALOG}>
      {({ data }) => {
        const usable = data.filter(({ status }) => status === "enabled");
        if (usable.length === 0) {
          return (
            <Empty title="No skill can be used yet.">
              <p>
                The <a href="#/skills">catalog</a> shows why.
              </p>
            </Empty>
          );
        }
        const rest = usable.length - MOST_NAMES;
        return (
          <>
            <p class="soft">Type a request to see which skill wins it and why, or choose a skill.</p>
            <ul class="skill-names">
              {usable.slice(0, MOST_NAMES).map((skill) => (
                <NameLink key={skill.address} skill={skill} isChosen={skill.name === chosen} />
              ))}
            </ul>
            {rest > 0 && <p class="soft">{countOf(rest, "more skill")}: type a word to find them.</p>}
          </>
        );
      }}
    </Answered>
  );
}

function NameLink({ skill, isChosen }: { readonly skill: ApiCatalogSkill; readonly isChosen: boolean }) {
  return (
    <li>
      <a
        href={linkToSkill(skill.name)}
        title={skill.description}
        aria-current={isChosen ? "true" : undefined}
      >
        {showUnseen(skill.name)}
      </a>
    </li>
  );
}
