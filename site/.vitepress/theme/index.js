/** VitePress' own theme without its web font, in the inspector's colors, with a list of a section's pages. */
import DefaultTheme from "vitepress/theme-without-fonts";
import { PageList } from "./page-list.js";
import "./metier.css";

export default {
  extends: DefaultTheme,
  /** @param {{ app: import("vue").App }} context */
  enhanceApp({ app }) {
    app.component("PageList", PageList);
  },
};
