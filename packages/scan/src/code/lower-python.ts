/** Converts a Python syntax tree to a `program.ts` tree. Drops docstrings and comments, which do nothing. */
import {
  type Argument,
  type Expression,
  Lowering,
  REVERSED,
  type Statement,
  type SyntaxNode,
  spanOf,
  unescapePython,
} from "./program.ts";

export function lowerPython(root: SyntaxNode, source: string): readonly Statement[] {
  return new PythonLowering(source, EXPRESSION).statements(root);
}

const EXPRESSION = /Expression$|^(?:String|FormatString|ContinuedString|VariableName|Number|Boolean|None)$/;
const PUNCTUATION =
  /^[()[\]{},:.=;*]+$|^(?:AssignOp|UpdateOp|ArithOp|BitOp|CompareOp|LogicOp|Comment|TypeDef)$/;

class PythonLowering extends Lowering {
  statements(node: SyntaxNode): readonly Statement[] {
    return node.children.flatMap((child) => this.#statement(child));
  }

  #statement(node: SyntaxNode): readonly Statement[] {
    switch (node.name) {
      case "ImportStatement":
        return this.#imports(node);
      case "AssignStatement":
        return this.#assignment(node);
      case "UpdateStatement": {
        const [target, , value] = node.children;
        return target && value ? [this.#assign(node, [target], this.expression(value), true)] : [];
      }
      case "FunctionDefinition":
        return [this.#definition(node)];
      case "ReturnStatement":
      case "YieldStatement":
        return [{ kind: "return", value: this.group(node), ...spanOf(node) }];
      case "ForStatement":
        return this.#loop(node);
      case "WithStatement":
        return this.#with(node);
      case "ExpressionStatement":
        return node.children.every(({ name }) => /^(?:String|ContinuedString)$/.test(name))
          ? []
          : [this.doing(node)];
      default:
        return this.#compound(node);
    }
  }

  /** Flattens blocks and keeps expressions in order. */
  #compound(node: SyntaxNode): readonly Statement[] {
    if (
      /Statement$|^(?:Body|ClassDefinition|StatementGroup|MatchBody|MatchClause|Decorator)$/.test(node.name)
    ) {
      return node.children.flatMap((child) => this.#statement(child));
    }
    return this.isExpression(node) ? [this.doing(node)] : [];
  }

  #assign(node: SyntaxNode, targets: readonly SyntaxNode[], value: Expression, adds = false): Statement {
    const all = targets.flatMap((target) => this.#targets(target));
    return this.assign(node, all, value, { adds });
  }

  /** `a = b = value`, `a, b = value`; a tuple on both sides is split. */
  #assignment(node: SyntaxNode): readonly Statement[] {
    const sides: SyntaxNode[][] = [[]];
    for (const child of node.children) {
      if (child.name === "AssignOp") sides.push([]);
      else if (!PUNCTUATION.test(child.name)) sides.at(-1)?.push(child);
    }
    const values = sides.pop() ?? [];
    const assign = (targets: readonly SyntaxNode[]): readonly Statement[] =>
      targets.length === values.length
        ? targets.map((target, index) =>
            this.#assign(node, [target], this.expression(values[index] ?? target)),
          )
        : [this.#assign(node, targets, this.list(values, node))];
    return sides.flatMap(assign);
  }

  #targets(node: SyntaxNode): readonly Expression[] {
    if (/^(?:TupleExpression|ArrayExpression|ParenthesizedExpression)$/.test(node.name)) {
      return this.values(node).flatMap((child) => this.#targets(child));
    }
    return [this.expression(node)];
  }

  #imports(node: SyntaxNode): readonly Statement[] {
    const words = node.children.map((child) => ({ word: this.text(child), child }));
    const split = words.findIndex(({ word }) => word === "import");
    const isFrom = words[0]?.word === "from";
    const module = isFrom
      ? words
          .slice(1, split)
          .map(({ word }) => word)
          .join("")
      : "";
    const bindings: Statement[] = [];
    let full = "";
    for (const { word } of [...words.slice(split + 1), { word: "," }]) {
      if (word === ",") {
        if (full !== "") bindings.push(bind(node, full, module));
        full = "";
      } else if (!/^[()]$/.test(word)) full += word === "as" ? " as " : word;
    }
    return bindings;
  }

  #definition(node: SyntaxNode): Statement {
    const name = node.children.find((child) => child.name === "VariableName");
    const body = node.children.find((child) => child.name === "Body");
    return {
      kind: "function",
      name: name ? this.text(name) : "",
      parameters: this.#parameters(node),
      body: body ? this.statements(body) : [],
      ...spanOf(node),
    };
  }

  #parameters(node: SyntaxNode): readonly string[] {
    const list = node.children.find((child) => child.name === "ParamList")?.children ?? [];
    return list
      .filter((child, index) => child.name === "VariableName" && list[index - 1]?.name !== "AssignOp")
      .map((child) => this.text(child));
  }

  /** `for target in values: body` */
  #loop(node: SyntaxNode): readonly Statement[] {
    const start = node.children.findIndex((child) => child.name === "for");
    const middle = node.children.findIndex((child) => child.name === "in");
    const end = node.children.findIndex((child) => child.name === "Body");
    const targets = node.children.slice(start + 1, middle).filter(this.isExpression);
    const looped = this.list(node.children.slice(middle + 1, end).filter(this.isExpression), node);
    return [
      this.#assign(node, targets, looped, true),
      ...node.children.slice(end).flatMap((child) => this.#statement(child)),
    ];
  }

  /** `with value as target: body` */
  #with(node: SyntaxNode): readonly Statement[] {
    return node.children.flatMap((child, index) => {
      if (child.name === "Body") return this.statements(child);
      if (!this.isExpression(child) || node.children[index - 1]?.name === "as") return [];
      const target = node.children[index + 1]?.name === "as" ? node.children[index + 2] : undefined;
      return [target ? this.#assign(node, [target], this.expression(child)) : this.doing(child)];
    });
  }

  expression(node: SyntaxNode): Expression {
    switch (node.name) {
      case "String":
        return { kind: "text", value: unescapePython(this.text(node)), ...spanOf(node) };
      case "Number":
        return { kind: "text", value: this.text(node), ...spanOf(node) };
      case "FormatString":
        return this.#format(node);
      case "ContinuedString":
        return this.joined(node, node.children);
      case "VariableName":
        return { kind: "name", name: this.text(node), ...spanOf(node) };
      case "ParenthesizedExpression":
      case "AwaitExpression":
      case "ExpressionStatement": {
        const [only, ...others] = this.values(node);
        return only && others.length === 0 ? this.expression(only) : this.group(node);
      }
      case "MemberExpression":
        return this.#member(node);
      case "CallExpression": {
        const [callee = node, list] = node.children;
        return {
          kind: "call",
          callee: this.expression(callee),
          args: list ? this.#arguments(list) : [],
          ...spanOf(node),
        };
      }
      case "BinaryExpression":
        return this.#binary(node);
      case "ArrayExpression":
      case "TupleExpression":
      case "SetExpression":
        return this.list(this.values(node), node);
      case "DictionaryExpression":
        return { kind: "items", items: this.#entries(node), ...spanOf(node) };
      case "LambdaExpression":
        return {
          kind: "function",
          parameters: this.#parameters(node),
          body: [{ kind: "return", value: this.group(node), ...spanOf(node) }],
          ...spanOf(node),
        };
      default:
        return this.group(node);
    }
  }

  #member(node: SyntaxNode): Expression {
    const [object = node, ...rest] = node.children;
    const property = rest.find(({ name }) => name === "PropertyName");
    if (property)
      return { kind: "member", object: this.expression(object), name: this.text(property), ...spanOf(node) };
    if (/\[\s*:\s*:\s*-\s*1\s*\]$/.test(this.source.slice(object.to, node.to)))
      return this.#reversed(node, object);
    const keys = rest.filter(this.isExpression);
    const key = keys.length === 1 && keys[0] ? this.expression(keys[0]) : this.list(keys, node);
    const name = key.kind === "text" ? { name: key.value } : {};
    return { kind: "member", object: this.expression(object), key, ...name, ...spanOf(node) };
  }

  /** `text[::-1]` */
  #reversed(node: SyntaxNode, object: SyntaxNode): Expression {
    const callee: Expression = { kind: "name", name: REVERSED, from: node.from, to: node.from };
    return { kind: "call", callee, args: [{ value: this.expression(object) }], ...spanOf(node) };
  }

  /** `+` and `%` join strings; `/` joins paths. */
  #binary(node: SyntaxNode): Expression {
    const operator = node.children.find(({ name }) => name === "ArithOp");
    const sign = operator ? this.text(operator) : "";
    if (sign === "+" || sign === "%") return this.joined(node, this.values(node));
    if (sign === "/") return this.joined(node, this.values(node), "/");
    return this.group(node);
  }

  #format(node: SyntaxNode): Expression {
    const parts: Expression[] = [];
    const quote = /^[a-z]*('''|"""|'|")/i.exec(this.text(node)) ?? ["", ""];
    const end = node.to - (quote[1]?.length ?? 0);
    let at = node.from + quote[0].length;
    for (const child of node.children.filter(({ name }) => name === "FormatReplacement")) {
      parts.push(this.#piece(at, child.from), this.group(child));
      at = child.to;
    }
    return { kind: "joined", parts: [...parts, this.#piece(at, end)], separator: "", ...spanOf(node) };
  }

  #piece(from: number, to: number): Expression {
    return {
      kind: "text",
      value: unescapePython(`"${this.source.slice(from, Math.max(from, to))}"`),
      from,
      to,
    };
  }

  #arguments(list: SyntaxNode): readonly Argument[] {
    const args: Argument[] = [];
    for (const [index, child] of list.children.entries()) {
      if (!this.isExpression(child) || list.children[index + 1]?.name === "AssignOp") continue;
      const key = list.children[index - 1]?.name === "AssignOp" ? list.children[index - 2] : undefined;
      args.push({ value: this.expression(child), name: key && this.text(key) });
    }
    return args;
  }

  #entries(node: SyntaxNode): readonly Argument[] {
    const items = node.children.filter((child) => this.isExpression(child) || child.name === ":");
    return items.flatMap((child, index) => {
      if (child.name === ":" || items[index + 1]?.name === ":") return [];
      const key = items[index - 1]?.name === ":" ? items[index - 2] : undefined;
      const keyed = key && this.expression(key);
      return [{ value: this.expression(child), name: keyed?.kind === "text" ? keyed.value : undefined }];
    });
  }
}

function bind(node: SyntaxNode, written: string, module: string): Statement {
  const [path = "", alias] = written.split(" as ");
  const full = module === "" ? path : `${module}.${path}`;
  const [top = ""] = path.split(".");
  // `import a.b` binds `a`.
  const isWhole = alias === undefined && module === "";
  return {
    kind: "import",
    local: alias ?? (isWhole ? top : path),
    full: isWhole ? top : full,
    ...spanOf(node),
  };
}
