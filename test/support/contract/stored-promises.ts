import {
  type ArrowFunction,
  type Expression,
  type FunctionExpression,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast'
import {
  isArrowFunction,
  isBinaryExpression,
  isCallExpression,
  isFunctionExpression,
  isIdentifier,
  isNewExpression,
  isPropertyAccessExpression,
} from 'typescript/unstable/ast/is'
import { API, type Checker, type Type } from 'typescript/unstable/sync'

/** An expression that creates a promise whose rejection nothing handles. */
export interface Finding {
  readonly file: string
  readonly line: number
  readonly code: string
}

/**
 * Finds every promise that is stored or discarded without a rejection handler. A promise is handled if the expression
 * that creates it is awaited, returned or passed to a function immediately, ends in `.catch(…)` or in `.then(…, …)`, or
 * is `new Promise((resolve) => …)`, which never rejects. An argument of a method that stores it (`push`, `set`, `add`)
 * counts as stored. `void` discards a promise without handling it. The promise of an async function that is passed to a
 * timer or an event emitter is discarded by the caller.
 */
export function findUnhandledPromises(configFile: string, isSearched: (file: string) => boolean): Finding[] {
  const api = new API()
  try {
    const project = api.updateSnapshot({ openProject: configFile }).getProject(configFile)
    if (project === undefined) throw new Error(`${configFile} is no project`)
    const files = project.program.getSourceFileNames().filter(isSearched)
    return files.flatMap((file) => {
      const source = project.program.getSourceFile(file)
      return source === undefined ? [] : search(source, project.checker)
    })
  } finally {
    api.close()
  }
}

function search(source: SourceFile, checker: Checker): Finding[] {
  const made = expressionsOf(source)
  const types = checker.getTypeAtLocation(made)
  return made
    .filter((expression, index) =>
      isAsyncFunction(expression)
        ? isGivenToAnEvent(expression)
        : isPromise(types[index], checker) && !isHandled(expression) && !isTaken(expression),
    )
    .map((expression) => {
      const start = expression.getStart(source)
      return {
        file: source.fileName,
        line: source.text.slice(0, start).split('\n').length,
        code: source.text.slice(start, expression.end).replace(/\s+/g, ' ').slice(0, 80),
      }
    })
}

/** Calls, constructions and async functions: everything that can create a promise. */
function expressionsOf(source: SourceFile): Expression[] {
  const found: Expression[] = []
  const visit = (node: Node): undefined => {
    if (isCallExpression(node) || isNewExpression(node)) found.push(node)
    else if ((isArrowFunction(node) || isFunctionExpression(node)) && isAsyncFunction(node)) found.push(node)
    node.forEachChild(visit)
  }
  visit(source)
  return found
}

function isAsyncFunction(node: Node): node is ArrowFunction | FunctionExpression {
  return (
    (isArrowFunction(node) || isFunctionExpression(node)) &&
    node.modifiers?.some(({ kind }) => kind === SyntaxKind.AsyncKeyword) === true
  )
}

function isPromise(type: Type | undefined, checker: Checker): boolean {
  return (
    type !== undefined &&
    /^Promise(?:Like)?<|\| Promise(?:Like)?</.test(withoutMembers(checker.typeToString(type)))
  )
}

/** The text of a type without what its object types contain: an object whose method returns a promise is none. */
function withoutMembers(type: string): string {
  const outer = type.replace(/\{[^{}]*\}/g, '')
  return outer === type ? type : withoutMembers(outer)
}

/** Whether the form of the expression itself handles rejections. */
function isHandled(expression: Expression): boolean {
  if (isNewExpression(expression)) {
    const executor = expression.arguments?.[0]
    return executor !== undefined && isArrowFunction(executor) && executor.parameters.length < 2
  }
  if (!isCallExpression(expression)) return false
  const { expression: callee, arguments: given } = expression
  if (isIdentifier(callee)) return callee.text === 'markRejectionHandled'
  if (!isPropertyAccessExpression(callee)) return false
  return callee.name.text === 'catch' || (callee.name.text === 'then' && given.length === 2)
}

/** Whether the surrounding code takes over the promise. */
function isTaken(expression: Expression): boolean {
  const parent = parentOf(expression)
  switch (parent.kind) {
    case SyntaxKind.AwaitExpression:
    case SyntaxKind.ReturnStatement:
    case SyntaxKind.ArrowFunction:
    case SyntaxKind.YieldExpression:
    case SyntaxKind.NewExpression:
    // A method call on the promise returns another promise, which is checked separately.
    case SyntaxKind.PropertyAccessExpression:
      return true
    case SyntaxKind.CallExpression:
      return !STORING.has(calleeName(parent))
    case SyntaxKind.ArrayLiteralExpression:
      return parent.parent.kind === SyntaxKind.CallExpression
    default:
      return false
  }
}

const STORING: ReadonlySet<string> = new Set(['push', 'unshift', 'add', 'set'])

const EVENTS: ReadonlySet<string> = new Set([
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'nextTick'],
  ...['on', 'once', 'addListener', 'addEventListener', 'createServer', 'forEach'],
])

function isGivenToAnEvent(expression: Expression): boolean {
  const parent = parentOf(expression)
  return isCallExpression(parent) && EVENTS.has(calleeName(parent))
}

function calleeName(node: Node): string {
  if (!isCallExpression(node)) return ''
  const { expression: callee } = node
  if (isPropertyAccessExpression(callee)) return callee.name.text
  return isIdentifier(callee) ? callee.text : ''
}

/** The node that receives the value, skipping nodes that only pass it on, such as parentheses and conditionals. */
function parentOf({ parent }: Expression): Node {
  let node = parent
  while (passesOn(node)) node = node.parent
  return node
}

function passesOn(node: Node): boolean {
  switch (node.kind) {
    case SyntaxKind.ParenthesizedExpression:
    case SyntaxKind.ConditionalExpression:
    case SyntaxKind.AsExpression:
    case SyntaxKind.SatisfiesExpression:
      return true
    default:
      return isBinaryExpression(node) && CHOOSING.has(node.operatorToken.kind)
  }
}

const CHOOSING: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.QuestionQuestionToken,
  SyntaxKind.BarBarToken,
  SyntaxKind.AmpersandAmpersandToken,
])
