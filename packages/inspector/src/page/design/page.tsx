/** The frame of a view: its heading, its actions, and the rest. The heading gets the focus when the view opens. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface ViewPageProps {
  readonly title: string;
  /** Next to the heading: a status. */
  readonly mark?: ComponentChildren;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function ViewPage({ title, mark, lead, actions, children }: ViewPageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Metier`;
  }, [title]);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <div class="page stack">
      <header class="page-head">
        <div class="stack tight">
          <div class="row">
            <h1 ref={heading} tabIndex={-1}>
              {title}
            </h1>
            {mark}
          </div>
          {lead && <div class="soft">{lead}</div>}
        </div>
        {actions && <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export function Section({
  title,
  children,
  actions,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly actions?: ComponentChildren;
}) {
  return (
    <section class="stack section">
      <div class="row section-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}
