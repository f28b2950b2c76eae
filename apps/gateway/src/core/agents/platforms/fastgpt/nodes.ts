import { countOf, type JsonObject, listOf, objectOf, textOf } from '#core/agents/translate/json.ts'

/** The tokens that the nodes of one run have reported so far. */
export interface FastGptTokens {
  prompt: number
  completion: number
  readonly countedNodes: Set<string>
}

/** Protects memory from a run that never ends. */
const NODES_MAX = 10_000

/**
 * Adds up the tokens of nodes and of the nodes inside them. A node counts its own model calls only (a tool
 * node its `toolCall…` ones; apps, plugins and loops have none), so a sum over all levels counts nothing
 * twice; the id guards against a node that is sent twice. Old builds with one total (`tokens`) leave the
 * usage unknown.
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

/** Returns a node's data without prompts, quoted knowledge, outputs and error texts. */
export function visibleNode(node: JsonObject): JsonObject {
  return Object.fromEntries(VISIBLE_FIELDS.filter((key) => key in node).map((key) => [key, node[key]]))
}

/**
 * A list of what may be seen, not of what may not (`historyPreview`, `query`, `quoteList`, …): builds add
 * fields.
 */
const VISIBLE_FIELDS = [
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
