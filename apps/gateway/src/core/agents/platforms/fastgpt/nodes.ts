import { countOf, type JsonObject, listOf, objectOf, textOf } from '#core/values/json.ts'

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

export function hasFailed(node: JsonObject): boolean {
  return Boolean(node.errorText || node.error)
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
