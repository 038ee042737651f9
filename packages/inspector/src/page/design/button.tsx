/** Buttons, and links that look like them. One accent button per page: what the reader most likely wants. */
import type { ComponentChildren } from "preact";

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: "plain" | "accent" | "danger" | "quiet";
  readonly isDisabled?: boolean;
  readonly title?: string | undefined;
  /** For screen readers, if many buttons have the same words; starts with those words. */
  readonly label?: string | undefined;
  readonly type?: "button" | "submit";
  readonly isPressed?: boolean | undefined;
  onPress?(): void;
}

export function Button(props: ButtonProps) {
  const {
    children,
    kind = "plain",
    isDisabled = false,
    title,
    label,
    type = "button",
    isPressed,
    onPress,
  } = props;
  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={isDisabled}
      title={title}
      aria-label={label}
      aria-pressed={isPressed}
      onClick={onPress}
    >
      {children}
    </button>
  );
}

interface LinkButtonProps {
  readonly children: ComponentChildren;
  readonly href: string;
  /** The file name for the download. */
  readonly download?: string;
}

export function LinkButton({ children, href, download }: LinkButtonProps) {
  return (
    <a class="button plain" href={href} download={download}>
      {children}
    </a>
  );
}
