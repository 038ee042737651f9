import { Page } from "../design/page.tsx";

export function SkillView() {
  return <Page title="SkillView">{null}</Page>;
}
