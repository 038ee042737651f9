import { Page } from "../design/page.tsx";

export function Compare() {
  return <Page title="Compare">{null}</Page>;
}
