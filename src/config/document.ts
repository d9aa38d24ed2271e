import {
  createScanner,
  findNodeAtLocation,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import { error, type FieldPath, type Finding, type Position, quote } from './problem.ts';

/** The value of a text in JSON with comments, and the positions of its parts. */
interface ConfigDocument {
  readonly value: unknown;
  /** Problems of a text that is valid JSON: a name that occurs twice, a number that is too large. */
  readonly findings: readonly Finding[];
  /**
   * Returns the offset of a field's value or name; of an absent field, that of the innermost object that should contain
   * it.
   */
  offsetOf: (path: FieldPath, about: Finding['about']) => number;
  positionOf: (offset: number) => Position;
}

/** `syntax-error`: the text is not JSON with comments. */
export type DocumentResult =
  | { readonly kind: 'ok'; readonly document: ConfigDocument }
  | { readonly kind: 'syntax-error'; readonly position: Position | null; readonly message: string };

/** No configuration is nested this deeply, and the recursion cannot overflow the stack. */
const DEEPEST_NESTING = 64;

/** Values of jsonc-parser's `SyntaxKind`, a const enum that cannot be imported. */
const OPEN_BRACE = 1;
const CLOSE_BRACE = 2;
const OPEN_BRACKET = 3;
const CLOSE_BRACKET = 4;
const EOF = 17;

const SYNTAX_ERRORS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this is not JSON; strings and names need double quotes',
  InvalidNumberFormat: 'this is not a number',
  PropertyNameExpected: 'a field name in double quotes is expected here',
  ValueExpected: 'a value is expected here',
  ColonExpected: 'a colon is expected here, between a field name and its value',
  CommaExpected: 'a comma is missing before this',
  CloseBraceExpected: 'a closing brace "}" is missing',
  CloseBracketExpected: 'a closing bracket "]" is missing',
  EndOfFileExpected: 'the configuration ended before this; remove what follows',
  InvalidCommentToken: 'this is not a comment; comments are // … and /* … */',
  UnexpectedEndOfComment: 'a comment is not closed; end it with */',
  UnexpectedEndOfString: 'a string is not closed; end it with a double quote',
  UnexpectedEndOfNumber: 'a number is not complete',
  InvalidUnicode: '\\u needs four hexadecimal digits',
  InvalidEscapeCharacter: 'unknown escape sequence; write a backslash as \\\\',
  InvalidCharacter: 'a string contains a control character; write a tab as \\t, a line break as \\n',
};

/**
 * Parses the text of a configuration. Reports only the first of several syntax errors, because the parser guesses what
 * follows it.
 */
export function parseDocument(text: string): DocumentResult {
  const positionOf = (offset: number): Position => findPosition(text, offset);
  const depthOffset = findTooDeep(text);
  if (depthOffset !== null) {
    return { kind: 'syntax-error', position: positionOf(depthOffset), message: 'this is nested too deeply' };
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors.sort((a, b) => a.offset - b.offset);
  if (root === undefined && first?.offset === text.length) {
    const message =
      'is empty; the shortest configuration is { "platform": { "botId": "…" }, "sources": [{ "directory": "./docs" }] }';
    return { kind: 'syntax-error', position: null, message };
  }
  if (root === undefined || first !== undefined) {
    const message = first === undefined ? 'this is not JSON' : describeSyntaxError(text, first);
    return { kind: 'syntax-error', position: positionOf(first?.offset ?? 0), message };
  }
  const findings: Finding[] = [];
  const value = toValue(root, [], findings);
  return {
    kind: 'ok',
    document: { value, findings, positionOf, offsetOf: (...field) => findOffset(root, ...field) },
  };
}

function describeSyntaxError(text: string, { error: code, offset, length }: ParseError): string {
  const isAfterNumber = /\d$/u.test(text.slice(0, offset));
  if (isAfterNumber && /^[\p{L}_%]/u.test(text.slice(offset, offset + length)))
    return 'a number has no unit; bytes are written in digits only (5000000), durations as strings ("15m")';
  return SYNTAX_ERRORS[printParseErrorCode(code)] ?? 'this is not JSON';
}

/** Unlike jsonc-parser's own function, this one takes the first of two equal names, and sees `__proto__`. */
function toValue(node: Node, path: FieldPath, findings: Finding[]): unknown {
  if (node.type === 'array') {
    return (node.children ?? []).map((item, position) => toValue(item, [...path, position], findings));
  }
  if (node.type !== 'object') {
    if (node.value === Infinity || node.value === -Infinity)
      findings.push(error(path, 'this number is too large'));
    return node.value;
  }
  const object: Record<string, unknown> = {};
  for (const property of node.children ?? []) {
    const [nameNode, valueNode] = property.children ?? [];
    if (nameNode === undefined || valueNode === undefined) continue;
    const name = String(nameNode.value);
    const inner = [...path, name];
    if (name === '__proto__') findings.push(error(inner, 'this name cannot be used; choose another', 'name'));
    else if (Object.hasOwn(object, name)) {
      const message = `${quote(name)} occurs twice here; keep one of them`;
      findings.push({ ...error(inner, message, 'name'), offset: nameNode.offset });
    } else object[name] = toValue(valueNode, inner, findings);
  }
  return object;
}

function findOffset(root: Node, path: FieldPath, about: Finding['about']): number {
  const node = findNodeAtLocation(root, [...path]);
  if (node !== undefined && about === 'value') return node.offset;
  if (node?.parent?.type === 'property' && about === 'name') return node.parent.offset;
  return path.length === 0 ? root.offset : findOffset(root, path.slice(0, -1), 'value');
}

function findPosition(text: string, offset: number): Position {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

function findTooDeep(text: string): number | null {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token: number = scanner.scan(); token !== EOF; token = scanner.scan()) {
    if (token === OPEN_BRACE || token === OPEN_BRACKET) depth += 1;
    if (token === CLOSE_BRACE || token === CLOSE_BRACKET) depth -= 1;
    if (depth > DEEPEST_NESTING) return scanner.getTokenOffset();
  }
  return null;
}
