/**
 * Converts a JavaScript or TypeScript syntax tree to a `program.ts` tree. Drops types and comments, which do nothing.
 */
import {
  type Argument,
  type Expression,
  Lowering,
  type Statement,
  type SyntaxNode,
  spanOf,
  unescapeJavascript,
} from "./program.ts";

export function lowerJavascript(root: SyntaxNode, source: string): readonly Statement[] {
  return new JavascriptLowering(source, EXPRESSION).statements(root.children);
}

const FUNCTIONS = /^(?:FunctionDeclaration|MethodDeclaration)$/;
const EXPRESSION =
  /Expression$|^(?:String|TemplateString|VariableName|Number|RegExp|ArrowFunction|DynamicImport|ImportMeta|JSXElement|BooleanLiteral|null|this|super)$/;

class JavascriptLowering extends Lowering {
  statements(nodes: readonly SyntaxNode[]): readonly Statement[] {
    return nodes.flatMap((node) => this.#statement(node));
  }

  #statement(node: SyntaxNode): readonly Statement[] {
    if (FUNCTIONS.test(node.name)) return [this.#declaration(node)];
    switch (node.name) {
      case "ImportDeclaration":
        return this.#imports(node);
      case "VariableDeclaration":
        return this.#variables(node);
      case "ForOfSpec":
      case "ForInSpec":
        return this.#loop(node);
      case "ReturnStatement":
        return [{ kind: "return", value: this.group(node), ...spanOf(node) }];
      case "PropertyDeclaration": {
        const value = node.children.findLast(this.isExpression);
        return value ? [this.doing(value)] : [];
      }
      case "ExpressionStatement":
        return this.values(node).flatMap((child) => this.#expressionStatement(child));
      default:
        return this.isExpression(node) ? this.#expressionStatement(node) : this.statements(node.children);
    }
  }

  /** An assignment is a statement, alone or in a sequence. */
  #expressionStatement(node: SyntaxNode): readonly Statement[] {
    if (node.name === "AssignmentExpression") return this.#assignment(node);
    if (node.name === "SequenceExpression")
      return this.values(node).flatMap((child) => this.#expressionStatement(child));
    return [this.doing(node)];
  }

  #assignment(node: SyntaxNode): readonly Statement[] {
    const [target, ...rest] = node.children;
    const value = rest.findLast(this.isExpression);
    if (!target || !value) return [];
    const adds = node.children.some(({ name }) => name === "UpdateOp");
    return [this.assign(node, this.#targets(target), this.expression(value), { declares: false, adds })];
  }

  /** `const a = 1, { b, c: d } = x` */
  #variables(node: SyntaxNode): readonly Statement[] {
    const found: Statement[] = [];
    let target: SyntaxNode | undefined;
    for (const child of node.children) {
      if (/^(?:VariableDefinition|ObjectPattern|ArrayPattern)$/.test(child.name)) target = child;
      else if (target && this.isExpression(child)) {
        found.push(...this.#bind(target, this.expression(child), child));
        target = undefined;
      }
    }
    return found;
  }

  /** A destructured property is a member of the value. */
  #bind(target: SyntaxNode, value: Expression, at: SyntaxNode): readonly Statement[] {
    if (target.name !== "ObjectPattern") return [this.assign(at, this.#targets(target), value)];
    return target.children
      .filter(({ name }) => name === "PatternProperty")
      .map((property) => {
        const names = property.children.filter(({ name }) =>
          /^(?:PropertyName|VariableDefinition)$/.test(name),
        );
        const [first, last] = [names[0], names.at(-1)];
        const span = spanOf(property);
        const variable: Expression = { kind: "name", name: last ? this.text(last) : "", ...span };
        const name = first ? this.text(first) : "";
        return this.assign(at, [variable], { kind: "member", object: value, name, ...span });
      });
  }

  #targets(node: SyntaxNode): readonly Expression[] {
    if (/^(?:ArrayPattern|ObjectPattern|PatternProperty)$/.test(node.name)) {
      return node.children.flatMap((child) => this.#targets(child));
    }
    if (node.name === "VariableDefinition") return [{ kind: "name", name: this.text(node), ...spanOf(node) }];
    return this.isExpression(node) ? [this.expression(node)] : [];
  }

  #loop(node: SyntaxNode): readonly Statement[] {
    const target = node.children.find(({ name }) =>
      /^(?:VariableDefinition|VariableName|ObjectPattern|ArrayPattern)$/.test(name),
    );
    const value = node.children.findLast(this.isExpression);
    if (!target || !value) return [];
    return [this.assign(node, this.#targets(target), this.expression(value), { adds: true })];
  }

  #imports(node: SyntaxNode): readonly Statement[] {
    const from = node.children.findLast(({ name }) => name === "String");
    const module = from ? moduleName(unescapeJavascript(this.text(from))) : "";
    const found: Statement[] = [];
    const bind = (local: SyntaxNode, full: string): void => {
      found.push({ kind: "import", local: this.text(local), full, ...spanOf(node) });
    };
    for (const child of node.children) {
      if (child.name === "VariableDefinition") bind(child, module);
      if (child.name !== "ImportGroup") continue;
      for (const [index, item] of child.children.entries()) {
        if (item.name !== "VariableDefinition") continue;
        const isRenamed = child.children[index - 1]?.name === "as";
        const original = isRenamed ? child.children[index - 2] : item;
        bind(item, `${module}.${original ? this.text(original) : ""}`.replace(/\.default$/, ""));
      }
    }
    return found;
  }

  #declaration(node: SyntaxNode): Statement {
    const name = node.children.find((child) =>
      /^(?:VariableDefinition|PropertyDefinition)$/.test(child.name),
    );
    return { kind: "function", name: name ? this.text(name) : "", ...this.#signature(node), ...spanOf(node) };
  }

  #signature(node: SyntaxNode): {
    readonly parameters: readonly string[];
    readonly body: readonly Statement[];
  } {
    const list = node.children.find(({ name }) => name === "ParamList");
    const parameters = (list?.children ?? [])
      .flatMap((child) => this.#targets(child))
      .flatMap((target) => (target.kind === "name" ? [target.name] : []));
    const last = node.children.at(-1);
    if (last?.name === "Block") return { parameters, body: this.statements(last.children) };
    const body: readonly Statement[] =
      last && this.isExpression(last)
        ? [{ kind: "return", value: this.expression(last), ...spanOf(last) }]
        : [];
    return { parameters, body };
  }

  expression(node: SyntaxNode): Expression {
    switch (node.name) {
      case "String":
        return { kind: "text", value: unescapeJavascript(this.text(node)), ...spanOf(node) };
      case "Number":
        return { kind: "text", value: this.text(node), ...spanOf(node) };
      case "TemplateString":
        return this.#template(node);
      case "VariableName":
      case "this":
        return { kind: "name", name: this.text(node), ...spanOf(node) };
      case "MemberExpression":
        return this.#member(node);
      case "CallExpression":
      case "NewExpression":
      case "DynamicImport":
        return this.#call(node);
      case "BinaryExpression": {
        const isSum = node.children.some((child) => child.name === "ArithOp" && this.text(child) === "+");
        const isCast = node.children.some(({ name }) => name === "as" || name === "satisfies");
        if (isSum) return this.joined(node, this.values(node));
        const [first] = this.values(node);
        return isCast && first ? this.expression(first) : this.group(node);
      }
      case "ArrayExpression":
        return this.list(this.values(node), node);
      case "ObjectExpression":
        return { kind: "items", items: this.#properties(node), ...spanOf(node) };
      case "ArrowFunction":
      case "FunctionExpression":
        return { kind: "function", ...this.#signature(node), ...spanOf(node) };
      default:
        return this.group(node);
    }
  }

  #member(node: SyntaxNode): Expression {
    const [object = node, ...rest] = node.children;
    const property = rest.find(({ name }) => /PropertyName$/.test(name));
    if (property)
      return { kind: "member", object: this.expression(object), name: this.text(property), ...spanOf(node) };
    const last = rest.findLast(this.isExpression);
    const key = last && this.expression(last);
    const name = key?.kind === "text" ? key.value : undefined;
    return { kind: "member", object: this.expression(object), key, name, ...spanOf(node) };
  }

  #call(node: SyntaxNode): Expression {
    const list = node.children.find(({ name }) => name === "ArgList");
    const isImport = node.name === "DynamicImport";
    const callee = isImport ? undefined : node.children.find((child) => this.isExpression(child));
    const args = (isImport ? this.values(node) : this.values(list ?? { ...node, children: [] })).map(
      (value): Argument => ({ value: this.expression(value) }),
    );
    const named: Expression = { kind: "name", name: "import", from: node.from, to: node.from };
    return { kind: "call", callee: callee ? this.expression(callee) : named, args, ...spanOf(node) };
  }

  #template(node: SyntaxNode): Expression {
    const parts: Expression[] = [];
    let at = node.from + 1;
    const piece = (to: number): Expression => {
      return { kind: "text", value: unescapeJavascript(`\`${this.source.slice(at, to)}\``), from: at, to };
    };
    for (const child of node.children.filter(({ name }) => name === "Interpolation")) {
      parts.push(piece(child.from), this.group(child));
      at = child.to;
    }
    return {
      kind: "joined",
      parts: [...parts, piece(Math.max(at, node.to - 1))],
      separator: "",
      ...spanOf(node),
    };
  }

  #properties(node: SyntaxNode): readonly Argument[] {
    return node.children
      .filter(({ name }) => name === "Property")
      .map((property): Argument => {
        const key = property.children.find(({ name }) => name === "PropertyDefinition" || name === "String");
        const name = key && (key.name === "String" ? unescapeJavascript(this.text(key)) : this.text(key));
        const given = property.children.findLast((child) => this.isExpression(child) && child !== key);
        const isMethod = property.children.some((child) => child.name === "Block");
        const value: Expression = isMethod
          ? { kind: "function", ...this.#signature(property), ...spanOf(property) }
          : given
            ? this.expression(given)
            : { kind: "name", name: name ?? "", ...spanOf(property) };
        return { value, name };
      });
  }
}

/** `node:fs` and `fs` are the same; so are `fs/promises` and `fs.promises`. */
export function moduleName(written: string): string {
  return written.replace(/^node:/, "").replaceAll("/", ".");
}
