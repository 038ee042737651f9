import { Page } from "../design/page.tsx";

export function Catalog() {
  return <Page title="Catalog">{null}</Page>;
}
