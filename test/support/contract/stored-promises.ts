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

/** An expression that makes a promise which may be rejected while nothing handles it. */
export interface Finding {
  readonly file: string
  readonly line: number
  readonly code: string
}

/**
 * Finds every promise that is stored or left alone without a handler. A promise is in order where the expression that makes
 * it is awaited, returned or given to a function at once, ends in `.catch(…)` or in `.then(…, …)`, or is
 * `new Promise((resolve) => …)`, which never rejects. What is given to a method that stores it (`push`, `set`, `add`) is
 * stored; `void` hides a promise and handles nothing; and an async function that is given to a timer or an event is one
 * whose promise nothing takes.
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

/** Calls, constructions and async functions: everything that can make a promise. */
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
  return type !== undefined && /^Promise(?:Like)?<|\| Promise(?:Like)?</.test(checker.typeToString(type))
}

/** By its own form. */
function isHandled(expression: Expression): boolean {
  if (isNewExpression(expression)) {
    const executor = expression.arguments?.[0]
    return executor !== undefined && isArrowFunction(executor) && executor.parameters.length < 2
  }
  if (!isCallExpression(expression)) return false
  const { expression: callee, arguments: given } = expression
  if (isIdentifier(callee)) return callee.text === 'handled'
  if (!isPropertyAccessExpression(callee)) return false
  return callee.name.text === 'catch' || (callee.name.text === 'then' && given.length === 2)
}

/** By what is done with it. */
function isTaken(expression: Expression): boolean {
  const parent = parentOf(expression)
  switch (parent.kind) {
    case SyntaxKind.AwaitExpression:
    case SyntaxKind.ReturnStatement:
    case SyntaxKind.ArrowFunction:
    case SyntaxKind.YieldExpression:
    case SyntaxKind.NewExpression:
    // What is called on it makes another one, which is looked at by itself.
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

/** What takes the value, behind everything that only passes it on. */
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
