import { finishMeaning } from '#core/agents/translate/replies/finish-words.ts'
import { isEmpty } from '#core/agents/translate/replies/message-shape.ts'
import { outputText } from '#core/agents/translate/replies/output-text.ts'
import { countOf, isObject, type JsonObject, listOf, objectOf, textOf } from '#core/base/values/json.ts'

/** The tokens that the nodes of one run have reported so far. */
export interface FastGptTokens {
  prompt: number
  completion: number
  readonly countedNodes: Set<string>
}

/** Protects memory from a run that never ends. */
const NODES_MAX = 10_000

/**
 * Adds up the tokens of nodes and of the nodes nested in them. A node counts only its own model calls (a tool
 * node in its `toolCall…` fields; apps, plugins and loops have none), so a sum over all levels counts nothing
 * twice. The id prevents counting a node that is sent twice. Old releases send one total (`tokens`), for
 * which the usage stays unknown.
 */
export function countTokens(nodes: readonly JsonObject[], tokens: FastGptTokens): void {
  // Iterates instead of recursing, because the nesting of a platform's data has no bound.
  const open = [...nodes]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const id = textOf(node.id)
    if (id !== undefined && tokens.countedNodes.has(id)) continue
    if (tokens.countedNodes.size >= NODES_MAX) return
    if (id !== undefined) tokens.countedNodes.add(id)
    tokens.prompt += countOf(node.inputTokens) ?? countOf(node.toolCallInputTokens) ?? 0
    tokens.completion += countOf(node.outputTokens) ?? countOf(node.toolCallOutputTokens) ?? 0
    for (const inner of ['toolDetail', 'pluginDetail', 'loopDetail']) {
      for (const child of listOf(node[inner])) open.push(objectOf(child))
    }
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
])

export function isAnswering({ moduleType }: JsonObject): boolean {
  return ANSWERING.has(moduleType)
}

/** How a run ended that did not end by itself. */
export interface BadEnd {
  readonly meaning: 'failed' | 'stopped'
  readonly code: string
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
  if (hasFailed(node)) return { meaning: 'failed', code: 'node_failed' }
  const inner = innerAnswering(node)
  return inner === undefined || levels === 0 ? undefined : badEndOf(inner, levels - 1)
}

function innerAnswering({ pluginDetail, loopDetail }: JsonObject): JsonObject | undefined {
  return [...listOf(pluginDetail), ...listOf(loopDetail)].map(objectOf).findLast(isAnswering)
}

/** The outputs of a plugin app, as text. */
export function pluginOutputs(nodes: readonly JsonObject[]): string | undefined {
  const output = nodes.findLast(({ moduleType }) => moduleType === 'pluginOutput')?.pluginOutput
  return isObject(output) ? outputText(output) : undefined
}

export function hasFailed({ error, errorText }: JsonObject): boolean {
  return !isEmpty(errorText) || !isEmpty(error)
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
