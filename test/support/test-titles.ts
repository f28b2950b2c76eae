import { type ESTree, parseSync, Visitor } from 'vite'

/**
 * The full titles of the tests in a source text, each after those of its `describe` blocks. Placeholders of `each` and expressions
 * stay as they are written, because only a run knows their values.
 */
export function titlesIn(file: string, source: string): string[] {
  const titles: string[] = []
  const outer: string[] = []
  new Visitor({
    CallExpression(call) {
      const title = titleOf(call, source)
      if (title === undefined) return
      outer.push(title)
      if (calleeOf(call) !== 'describe') titles.push(outer.join(' '))
    },
    'CallExpression:exit'(call) {
      if (titleOf(call, source) !== undefined) outer.pop()
    },
  }).visit(parseSync(file, source).program)
  return titles
}

/** What `test(…)`, `describe.each(…)(…)` and the like are given as a title. */
function titleOf(call: ESTree.CallExpression, source: string): string | undefined {
  if (!['describe', 'it', 'test'].includes(calleeOf(call) ?? '')) return undefined
  const [title] = call.arguments
  if (title?.type === 'Literal' && typeof title.value === 'string') return title.value
  return title?.type === 'TemplateLiteral' ? source.slice(title.start + 1, title.end - 1) : undefined
}

/** The name at the beginning of what is called: `test` of `test.skipIf(…).each(…)`. */
function calleeOf(call: ESTree.CallExpression): string | undefined {
  let node: ESTree.Expression = call.callee
  for (;;) {
    if (node.type === 'Identifier') return node.name
    if (node.type === 'CallExpression') node = node.callee
    else if (node.type === 'MemberExpression') node = node.object
    else return undefined
  }
}
