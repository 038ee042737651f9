/** What a model reads once the skill is used, rendered or as source. */
import type { ApiSkill } from "@metier/service/api";
import { Button } from "../design/button.tsx";
import { Markdown } from "../design/markdown.tsx";
import { Empty } from "../design/notice.tsx";
import { Section } from "../design/page.tsx";
import { Source } from "../design/source.tsx";
import { address, changeQuery } from "../state/address.ts";
import { formatTokens } from "../state/format.ts";

export function InstructionsTab({
  skill: { instructions, bodyTokens },
}: {
  readonly skill: Pick<ApiSkill, "instructions" | "bodyTokens">;
}) {
  const isSource = address.value.query.get("as") === "source";
  return (
    <Section
      title="Instructions"
      actions={
        <div class="row">
          <span class="soft small">about {formatTokens(bodyTokens)} tokens</span>
          <Button isPressed={!isSource} onPress={() => changeQuery({ as: undefined })}>
            Rendered
          </Button>
          <Button isPressed={isSource} onPress={() => changeQuery({ as: "source" })}>
            Source
          </Button>
        </div>
      }
    >
      {instructions.trim() === "" ? (
        <Empty title="It has no instructions.">
          <p>
            Write them below the frontmatter of <code>SKILL.md</code>.
          </p>
        </Empty>
      ) : isSource ? (
        <Source label="Instructions as written" text={instructions} />
      ) : (
        <Markdown text={instructions} />
      )}
    </Section>
  );
}
