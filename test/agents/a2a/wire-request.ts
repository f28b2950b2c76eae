import { asList, asRecord, asText, type JsonRecord } from '@trunkline/sandbox/src/serving/narrow.ts'

/** What a request asks for, whichever dialect it is in. The SDK has not read it yet. */
export interface WireRequest {
  readonly kind: 'send' | 'stream' | 'cancel' | 'other'
  /** The text of its message; empty if it has none. */
  readonly query: string
  /** Empty if the client leaves it to the agent. */
  readonly contextId: string
  /** The task that a message answers, or that is to be cancelled. */
  readonly taskId: string
}

/** The methods of JSON-RPC 1.0 and 0.3. */
const METHODS: Readonly<Record<string, WireRequest['kind']>> = {
  SendMessage: 'send',
  'message/send': 'send',
  SendStreamingMessage: 'stream',
  'message/stream': 'stream',
  CancelTask: 'cancel',
  'tasks/cancel': 'cancel',
}

/** The last segments of the paths of HTTP+JSON 1.0 and 0.3. */
const PATHS: readonly (readonly [RegExp, WireRequest['kind']])[] = [
  [/\/message:send$/, 'send'],
  [/\/message:stream$/, 'stream'],
  [/\/tasks\/([^/]+):cancel$/, 'cancel'],
]

export function readWireRequest(path: string, body: JsonRecord): WireRequest {
  const [pattern, pathKind] = PATHS.find(([each]) => each.test(path)) ?? []
  const kind = pathKind ?? METHODS[asText(body.method)] ?? 'other'
  const params = pathKind === undefined ? asRecord(body.params) : body
  const message = asRecord(params.message)
  // Only HTTP+JSON 0.3 calls the parts of a message its content.
  const parts = asList(message.parts ?? message.content).map(asRecord)
  const cancelled = pattern?.exec(path)?.[1] ?? asText(params.id)
  return {
    kind,
    query: parts.map(({ text }) => asText(text)).join(''),
    contextId: asText(message.contextId),
    taskId: kind === 'cancel' ? cancelled : asText(message.taskId),
  }
}
