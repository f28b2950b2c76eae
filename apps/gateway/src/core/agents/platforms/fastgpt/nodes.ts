import { finishMeaning } from '#core/agents/translate/replies/finish-words.ts'
import { isEmpty } from '#core/agents/translate/replies/message-shape.ts'
import { outputText } from '#core/agents/translate/replies/output-text.ts'
import { countOf, isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'

/** The tokens that the nodes of one run have reported so far. */
export interface FastGptTokens {
  prompt: number
  completion: number
  /** The nodes that were counted, whose numbers a list of all nodes repeats. */
  readonly countedNodes: Set<string>
}

/** Protects memory from a run that never ends. */
const NODES_MAX = 10_000

/** Where the nodes within a node stand; all but the first are only read by releases since 4.15. */
const INNER = [
  'childrenResponses',
  'toolDetail',
  'pluginDetail',
  'loopDetail',
  'loopRunDetail',
  'parallelDetail',
] as const

function innerNodes(node: JsonObject): readonly JsonObject[] {
  return INNER.flatMap((name) => listOf(node[name])).map(objectOf)
}

/** The nodes and those within them, as far as the bound goes. Iterates instead of recursing, because their nesting has no bound. */
function* everyNode(nodes: readonly JsonObject[]): Generator<JsonObject> {
  const open = [...nodes]
  let count = 0
  for (let node = open.pop(); node !== undefined && count < NODES_MAX; node = open.pop()) {
    count += 1
    yield node
    open.push(...innerNodes(node))
  }
}

/**
 * Adds up the tokens of nodes and of the nodes nested in them. A node counts only its own model calls (a tool
 * node in its `toolCall…` fields; apps, plugins and loops have none), so a sum over all levels counts nothing
 * twice. A node that comes again by itself brings what was added to it; in a list of all nodes it is a repetition. Old releases send one
 * total (`tokens`), for which the usage stays unknown.
 */
export function countTokens(nodes: readonly JsonObject[], tokens: FastGptTokens, isList: boolean): void {
  const before = isList ? new Set(tokens.countedNodes) : undefined
  for (const node of everyNode(nodes)) {
    const id = textOf(node.id)
    if (id !== undefined && before?.has(id) === true) continue
    if (tokens.countedNodes.size >= NODES_MAX) return
    if (id !== undefined) tokens.countedNodes.add(id)
    tokens.prompt += countOf(node.inputTokens) ?? countOf(node.toolCallInputTokens) ?? 0
    tokens.completion += countOf(node.outputTokens) ?? countOf(node.toolCallOutputTokens) ?? 0
  }
}

/** The kinds of nodes that write the answer, of which a run may have several. */
const ANSWERING: ReadonlySet<unknown> = new Set([
  undefined,
  'chatNode',
  'answerNode',
  'tools',
  'agent',
  'app',
  'appModule',
  'pluginModule',
  'loop',
  'loopRun',
  'parallelRun',
])

/** The nodes within these are tools, after whose failure the model goes on. */
const CALLING_TOOLS: ReadonlySet<unknown> = new Set(['tools', 'agent'])

export function isAnswering({ moduleType }: JsonObject): boolean {
  return ANSWERING.has(moduleType)
}

/** How a run ended that did not end by itself. */
export interface BadEnd {
  readonly meaning: 'failed' | 'stopped'
  readonly code: string
  /** What the failed node says of it. */
  readonly error?: unknown
}

const LEVELS_MAX = 16

/** The word with which the model of a node has ended: its own, or that of the last one within it that answers. */
export function endWordOf(node: JsonObject, levels = LEVELS_MAX): string | undefined {
  const inner = innerAnswering(node)
  const word = textOf(node.finishReason)
  return word ?? (inner === undefined || levels === 0 ? undefined : endWordOf(inner, levels - 1))
}

/** How a node ended, if that was badly: by a word, by its error, or by that of the last one within it that answers. */
export function badEndOf(node: JsonObject, levels = LEVELS_MAX): BadEnd | undefined {
  const word = endWordOf(node)
  const meaning = word === undefined ? undefined : finishMeaning(word)
  if (word !== undefined && (meaning === 'failed' || meaning === 'stopped')) return { meaning, code: word }
  if (hasFailed(node)) return { meaning: 'failed', code: 'node_failed', error: errorOf(node) }
  const inner = innerAnswering(node)
  return inner === undefined || levels === 0 ? undefined : badEndOf(inner, levels - 1)
}

function innerAnswering(node: JsonObject): JsonObject | undefined {
  if (CALLING_TOOLS.has(node.moduleType)) return undefined
  return innerNodes(node).findLast(isAnswering)
}

/** What the first failed node says of it, those within others included; undefined if none has failed. */
export function failureIn(nodes: readonly JsonObject[]): unknown {
  for (const node of everyNode(nodes)) if (hasFailed(node)) return errorOf(node)
  return undefined
}

/** The outputs of a plugin app, as text. */
export function pluginOutputs(nodes: readonly JsonObject[]): string | undefined {
  const output = nodes.findLast(({ moduleType }) => moduleType === 'pluginOutput')?.pluginOutput
  return isObject(output) ? outputText(output) : undefined
}

/** Whether a node has failed, and no branch of the app has taken its failure. */
export function hasFailed(node: JsonObject): boolean {
  return node.errorCaptured !== true && !isEmpty(errorOf(node))
}

function errorOf({ error, errorText }: JsonObject): unknown {
  return isEmpty(errorText) ? error : errorText
}

/**
 * The fields of a node without prompts, quoted knowledge, outputs and error texts. An allow-list, because new releases may
 * add fields as private as `historyPreview` or `quoteList`.
 */
export const VISIBLE_FIELDS = [
  'id',
  'nodeId',
  'moduleName',
  'moduleType',
  'runningTime',
  'model',
  'inputTokens',
  'outputTokens',
  'toolCallInputTokens',
  'toolCallOutputTokens',
  'tokens',
  'finishReason',
]
