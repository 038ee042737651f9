/**
 * `<PageList />` in a section's first page: links to all its pages with their descriptions. `folder` names another folder.
 * The repository shows nothing there, where the list of files beside the page does the same.
 */
import { useData, withBase } from "vitepress";
import { defineComponent, h } from "vue";

export const PageList = defineComponent({
  props: { folder: { type: String, default: undefined } },
  setup(props) {
    const { theme, page } = useData();
    return () => {
      const folder = props.folder ?? page.value.relativePath.split("/").slice(0, -1).join("/");
      const listed = theme.value.pages.filter(
        (/** @type {{ folder: string }} */ one) => one.folder === folder,
      );
      return h(
        "ul",
        { class: "page-list" },
        listed.map(
          (
            /** @type {{ link: string, title: string, description: string }} */ { link, title, description },
          ) =>
            h("li", [
              h("a", { href: withBase(`${link}.html`) }, title),
              ...(description ? [h("span", ` ${description}`)] : []),
            ]),
        ),
      );
    };
  },
});
