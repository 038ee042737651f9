import { Page } from "../design/page.tsx";

export function Design() {
  return <Page title="Design">{null}</Page>;
}
