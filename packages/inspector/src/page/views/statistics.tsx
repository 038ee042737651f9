import { Page } from "../design/page.tsx";

export function Statistics() {
  return <Page title="Statistics">{null}</Page>;
}
