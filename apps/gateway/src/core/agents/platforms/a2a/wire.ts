import type { AgentCall, HelperCall, UpstreamRequest } from '#core/agents/adapter.ts'
import { agentKey, bearer, jsonPost } from '#core/agents/translate/plain-requests.ts'
import { isObject, type JsonObject, objectOf, textOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import type { A2aCard, Dialect } from './card.ts'

type Caller = Pick<AgentCall, 'agent'> & { readonly app?: AgentCall['app'] }
type Operation = keyof (typeof METHODS)['rpc']

/** The operations under the names of both versions. */
const METHODS = {
  rpc: { send: 'SendMessage', stream: 'SendStreamingMessage', get: 'GetTask', cancel: 'CancelTask' },
  'rpc-0.3': { send: 'message/send', stream: 'message/stream', get: 'tasks/get', cancel: 'tasks/cancel' },
} as const

/** Without this header an agent that speaks both versions takes a request for one of 0.3. */
function versionOf(dialect: Dialect): '1.0' | '0.3' {
  return dialect === 'rpc-0.3' ? '0.3' : '1.0'
}

/** The request that sends a message, whose reply is a stream if the agent can send one. */
export function messageRequest(caller: Caller, card: A2aCard, message: object): UpstreamRequest {
  const operation = card.streams ? 'stream' : 'send'
  // Without a stream the task is named at once and then asked for, so that it can be stopped while it works.
  const atOnce = card.dialect === 'rpc-0.3' ? { blocking: false } : { returnImmediately: true }
  const body = card.streams ? { message } : { message, configuration: atOnce }
  if (card.dialect !== 'http') return rpc(caller, card, operation, body)
  return http(caller, card, `message:${operation}`, body)
}

/** The request that reads a task, with its last messages if any are wanted. */
export function getRequest(caller: Caller, card: A2aCard, id: string, historyLength = 0): UpstreamRequest {
  if (card.dialect !== 'http') return rpc(caller, card, 'get', { id, historyLength })
  const url = `${pathOf(card)}/tasks/${encodeURIComponent(id)}?historyLength=${historyLength}`
  return { method: 'GET', url, headers: headersOf(caller, card) }
}

export function cancelRequest(caller: Caller, card: A2aCard, id: string): UpstreamRequest {
  if (card.dialect !== 'http') return rpc(caller, card, 'cancel', { id })
  return http(caller, card, `tasks/${encodeURIComponent(id)}:cancel`, { id })
}

function http(caller: Caller, card: A2aCard, path: string, body: object): UpstreamRequest {
  return jsonPost(`${pathOf(card)}/${path}`, headersOf(caller, card), body)
}

function pathOf({ url, tenant }: A2aCard): string {
  return tenant === undefined ? url : `${url}/${encodeURIComponent(tenant)}`
}

function rpc(caller: Caller, card: A2aCard, operation: Operation, params: object): UpstreamRequest {
  const { url, dialect, tenant } = card
  const method = METHODS[dialect === 'rpc-0.3' ? dialect : 'rpc'][operation]
  return jsonPost(url, headersOf(caller, card), {
    jsonrpc: '2.0',
    id: 1,
    method,
    params: omitUndefined({ tenant, ...params }),
  })
}

function headersOf(caller: Caller, { dialect, keyHeader }: A2aCard): Record<string, string> {
  const key = agentKey(caller.agent, caller.app)
  const credentials = keyHeader === undefined || key === undefined ? bearer(caller) : { [keyHeader]: key }
  return {
    'a2a-version': versionOf(dialect),
    accept: 'text/event-stream, application/a2a+json, application/json',
    ...credentials,
  }
}

/** One thing that an agent says of a task, or in place of one, in the form of version 1.0. */
export type Update =
  | { readonly kind: 'task'; readonly task: JsonObject }
  | { readonly kind: 'message'; readonly message: JsonObject }
  | { readonly kind: 'status'; readonly update: JsonObject }
  | { readonly kind: 'artifact'; readonly update: JsonObject }

/** What 0.3 calls the members that 1.0 has by name. */
const KINDS: Readonly<Record<string, Update['kind']>> = {
  task: 'task',
  message: 'message',
  'status-update': 'status',
  'artifact-update': 'artifact',
}

/** The error of a reply, which JSON-RPC and HTTP have in the same place; undefined if it is none. */
export function errorOf(frame: JsonObject): JsonObject | undefined {
  return isObject(frame.error) ? frame.error : undefined
}

/** Reads a frame of a stream, or a whole body; undefined if it is none of the four. */
export function updateOf(frame: JsonObject): Update | undefined {
  const result = isObject(frame.result) ? frame.result : frame
  const { task, message, statusUpdate, artifactUpdate } = result
  if (isObject(task)) return { kind: 'task', task }
  if (isObject(statusUpdate)) return { kind: 'status', update: statusUpdate }
  if (isObject(artifactUpdate)) return { kind: 'artifact', update: artifactUpdate }
  const kind = KINDS[textOf(result.kind) ?? '']
  // A status has a text under `message` in 0.3, so the kind decides first.
  if (kind === undefined) return taskOrMessage(result, message)
  if (kind === 'task') return { kind, task: result }
  return kind === 'message' ? { kind, message: result } : { kind, update: result }
}

/** A reply to a request for a task is the task itself. */
function taskOrMessage(result: JsonObject, message: unknown): Update | undefined {
  if (isObject(message)) return { kind: 'message', message }
  return isObject(result.status) && textOf(result.id) !== undefined
    ? { kind: 'task', task: result }
    : undefined
}

/** The state of a task as 0.3 writes it: `TASK_STATE_INPUT_REQUIRED` and `input-required` are the same. */
export function stateOf(status: unknown): string {
  const state = textOf(objectOf(status).state) ?? ''
  return state
    .toLowerCase()
    .replace(/^task_state_/, '')
    .replaceAll('_', '-')
}

/** Over HTTP an agent reports with an error status what is a success here. */
export function tolerant<Result>(
  call: HelperCall<Result>,
  accept: (body: JsonObject) => { ok: Result } | undefined,
): HelperCall<Result> {
  return {
    ...call,
    read: (status, body, header) =>
      (isObject(body) && errorOf(body) !== undefined ? accept(body) : undefined) ??
      call.read(status, body, header),
  }
}

export function cardOf({ card }: { readonly card?: A2aCard | undefined }): A2aCard {
  if (card === undefined) throw new Error('the card was not read before the call')
  return card
}
