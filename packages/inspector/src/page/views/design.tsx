/** The design system on one page: tokens, and every component in all its forms. */
import { useState } from "preact/hooks";
import { Badge, StatusBadge } from "../design/badge.tsx";
import { Button } from "../design/button.tsx";
import { Dialog } from "../design/dialog.tsx";
import { Diff, readUnified } from "../design/diff.tsx";
import { Facts, Figures } from "../design/facts.tsx";
import { CheckField, ChoiceField, RangeField, TextField } from "../design/field.tsx";
import { Markdown } from "../design/markdown.tsx";
import { Empty, Notice } from "../design/notice.tsx";
import { Section, ViewPage } from "../design/page.tsx";
import { Plot } from "../design/plot.tsx";
import { Table } from "../design/table.tsx";
import { Tabs } from "../design/tabs.tsx";
import { Code, Time } from "../design/text.tsx";
import { formatNumber } from "../state/format.ts";

export function Design() {
  return (
    <ViewPage title="Design" lead="What the inspector is made of. Views use these and add almost nothing.">
      <Section title="Colors">
        <Swatches />
      </Section>
      <Section title="Buttons">
        <Buttons />
      </Section>
      <Section title="Badges">
        <div class="row">
          {(["plain", "good", "warn", "bad", "accent"] as const).map((tone) => (
            <Badge key={tone} tone={tone}>
              {tone}
            </Badge>
          ))}
          {["completed", "running", "waiting", "failed", "untrusted"].map((status) => (
            <StatusBadge key={status} status={status} />
          ))}
        </div>
      </Section>
      <Section title="Fields">
        <Fields />
      </Section>
      <Notices />
      <Section title="Facts and figures">
        <Figures
          figures={[
            ["Runs", "1,204"],
            ["Cost", "$3.12"],
          ]}
        />
        <Facts
          facts={[
            ["Model", "anthropic/claude-sonnet-5-5"],
            ["Started", <Time at={new Date().toISOString()} />],
          ]}
        />
      </Section>
      <Texts />
      <Lists />
    </ViewPage>
  );
}

function Notices() {
  return (
    <Section title="Notices">
      <Notice title="Plain">
        <p>What is worth knowing.</p>
      </Notice>
      <Notice tone="good" title="Good" />
      <Notice tone="warn" title="Warning">
        <p>What to be careful with.</p>
      </Notice>
      <Notice tone="bad" title="Bad">
        <p>What went wrong, and what to do.</p>
      </Notice>
      <Empty title="Nothing here.">
        <p>Why, and what to do about it.</p>
      </Empty>
    </Section>
  );
}

const COLORS = [
  "ink",
  "ink-soft",
  "paper",
  "card",
  "line",
  "accent",
  "good",
  "warn",
  "bad",
  "model",
  "tool",
  "wait",
  "child",
];

function Swatches() {
  return (
    <div class="swatches">
      {COLORS.map((name) => (
        <div key={name} class="stack tight">
          <span class="swatch" style={{ background: `var(--${name})` }} />
          <code>--{name}</code>
        </div>
      ))}
    </div>
  );
}

function Buttons() {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="row">
      <Button kind="accent">Accent</Button>
      <Button>Plain</Button>
      <Button kind="danger">Danger</Button>
      <Button kind="quiet">Quiet</Button>
      <Button isDisabled>Disabled</Button>
      <Button isPressed>Pressed</Button>
      <Button onPress={() => setOpen(true)}>Open a dialog</Button>
      {isOpen && (
        <Dialog title="A dialog" onClose={() => setOpen(false)}>
          <p>It keeps the focus, and Escape closes it.</p>
        </Dialog>
      )}
    </div>
  );
}

function Fields() {
  const [text, setText] = useState("");
  const [choice, setChoice] = useState("first");
  const [isChecked, setChecked] = useState(true);
  const [range, setRange] = useState(2000);
  return (
    <div class="filters">
      <TextField label="Text" value={text} hint="What it is for." onInput={setText} />
      <TextField
        label="With an error"
        value="7 days"
        error="This is not a number."
        onInput={() => undefined}
      />
      <ChoiceField label="Choice" value={choice} options={["first", "second"]} onChange={setChoice} />
      <RangeField
        label="Range"
        value={range}
        least={100}
        most={8000}
        step={100}
        shown={`${formatNumber(range)} tokens`}
        onInput={setRange}
      />
      <CheckField label="Check" isChecked={isChecked} onChange={setChecked} />
    </div>
  );
}

const DIFF = "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three";
const MARKDOWN =
  "Text with *emphasis*, `code` and a [link](https://example.com).\n\n- one\n- two\n\n```\ncode\n```";

function Texts() {
  return (
    <>
      <Section title="Code">
        <Code text={'for f in *.md; do\n  wc -l "$f"\ndone'} />
      </Section>
      <Section title="Differences">
        <Diff
          label="An example"
          hunks={readUnified(DIFF)}
          findings={[
            { path: "", line: 2, rule: "example", severity: "medium", message: "A finding on a new line." },
          ]}
        />
      </Section>
      <Section title="Markdown">
        <Markdown text={MARKDOWN} />
      </Section>
    </>
  );
}

const ROWS = Array.from({ length: 1000 }, (_, index) => ({
  name: `row ${index + 1}`,
  value: (index * 37) % 100,
}));

function Lists() {
  return (
    <>
      <Section title="Plots">
        <div class="columns">
          <Plot
            title="Bars"
            points={ROWS.slice(0, 14).map(({ name, value }) => ({ label: name, value }))}
            second={{ title: "of these failed", values: ROWS.slice(0, 14).map(({ value }) => value / 4) }}
            show={String}
          />
          <Plot
            title="A line with its noise"
            form="line"
            points={ROWS.slice(0, 8).map(({ name, value }) => ({
              label: name,
              value: 50 + value / 3,
              noise: 8,
            }))}
            show={(value) => value.toFixed(0)}
          />
        </div>
      </Section>
      <Section title="Tabs">
        <Tabs
          label="An example"
          query="example"
          tabs={[
            { id: "first", title: "First", count: 3, render: () => <p>The first part.</p> },
            { id: "second", title: "Second", render: () => <p>The second part.</p> },
          ]}
        />
      </Section>
      <Section title="Table">
        <Table
          label="A thousand rows"
          rows={ROWS}
          keyOf={({ name }) => name}
          linkOf={() => "#/design"}
          columns={[
            { title: "Name", width: "minmax(0, 2fr)", render: ({ name }) => name },
            { title: "Value", width: "6rem", isNumber: true, render: ({ value }) => value },
          ]}
        />
      </Section>
    </>
  );
}
