/** A question over the page. The browser's own dialog keeps the focus inside and closes on Escape. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  onClose(): void;
}

export function Dialog({ title, children, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current } = element;
    const before = document.activeElement;
    current?.showModal();
    return () => {
      current?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div class="stack">
        <div class="row dialog-head">
          <h2>{title}</h2>
          <Button kind="quiet" title="Close (Esc)" onPress={onClose}>
            Close
          </Button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
