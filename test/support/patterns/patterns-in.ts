import { parseSync } from 'vite'

/** A regular expression of a source file. */
export interface FoundPattern {
  /** The text by which it is found in the file. */
  readonly code: string
  readonly line: number
  /** Undefined where the text of the pattern is known only when the program runs. */
  readonly pattern: { readonly source: string; readonly flags: string } | undefined
  /** What a comment beside it, or one for the whole file, says of the time that it takes. */
  readonly reason: string | undefined
}

/** Of a pattern whose time is not measured, and why that does no harm. */
const REASON = /^[*\s]*(Linear time|Linear time of all patterns here): (.+)/s

/** All regular expressions of a file: literals, and calls of `RegExp`. */
export function patternsIn(file: string, text: string): readonly FoundPattern[] {
  const { program, comments, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file} cannot be parsed.`)
  const reasons = comments.flatMap(({ value, end }) => {
    const [, scope, reason] = REASON.exec(value) ?? []
    return reason === undefined ? [] : { reason, line: lineAt(text, end), isOfAll: scope !== 'Linear time' }
  })
  const constants = new Map<string, Node>()
  const found: { readonly node: Node; readonly pattern: FoundPattern['pattern'] }[] = []
  visit(program, (node) => {
    const { type, id, init, regex } = node
    if (type === 'VariableDeclarator' && isNode(id) && isNode(init) && id.type === 'Identifier')
      constants.set(String(id.name), init)
    if (isNode(regex)) found.push({ node, pattern: literal(regex) })
    else if (isRegExpCall(node)) found.push({ node, pattern: called(node, constants) })
  })
  return found.map(({ node, pattern }) => {
    const line = lineAt(text, Number(node.start))
    const beside = reasons.find((each) => each.isOfAll || (line - each.line >= 0 && line - each.line <= 2))
    return { code: text.slice(Number(node.start), Number(node.end)), line, pattern, reason: beside?.reason }
  })
}

type Node = Readonly<Record<string, unknown>>

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

/** In the order of the text, so that constants come before what uses them. */
function visit(value: unknown, take: (node: Node) => void): void {
  if (!isNode(value)) return
  take(value)
  for (const child of Object.values(value)) visit(child, take)
}

function isRegExpCall({ type, callee }: Node): boolean {
  return (type === 'NewExpression' || type === 'CallExpression') && isNode(callee) && callee.name === 'RegExp'
}

function literal({ pattern, flags }: Node): { source: string; flags: string } {
  return { source: String(pattern), flags: String(flags) }
}

function called(call: Node, constants: ReadonlyMap<string, Node>): FoundPattern['pattern'] {
  const [pattern, flags] = Array.isArray(call.arguments) ? call.arguments : []
  const source = textIn(pattern, constants)
  return source === undefined ? undefined : { source, flags: textIn(flags, constants) ?? '' }
}

/** The text of an expression of texts and patterns that are constants of the file. */
function textIn(node: unknown, constants: ReadonlyMap<string, Node>): string | undefined {
  if (!isNode(node)) return undefined
  const { type, value, regex, name, quasis, expressions } = node
  if (type === 'Identifier') return textIn(constants.get(String(name)), constants)
  if (isNode(regex)) return String(regex.pattern)
  if (type === 'Literal' && typeof value === 'string') return value
  if (type !== 'TemplateLiteral' || !Array.isArray(quasis) || !Array.isArray(expressions)) return undefined
  const values = expressions.map((each) => textIn(each, constants))
  if (values.includes(undefined)) return undefined
  return quasis.map(({ value: { cooked } }, index) => `${cooked}${values[index] ?? ''}`).join('')
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
