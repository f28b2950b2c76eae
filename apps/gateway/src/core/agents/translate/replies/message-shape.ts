import type { ChatEvent } from '#core/agents/events.ts'
import { type MadeFile, madeFileType } from '#core/agents/made-file.ts'
import { isObject, type JsonObject, objectOf, textOf } from '#core/base/values/json.ts'

type Kind = 'text' | 'reasoning'

/** What was read of a message or of a piece of one. */
export interface Reading {
  readonly events: ChatEvent[]
  /** Tool calls, as the server sent them. */
  readonly calls: unknown[]
  /** Whether there is something that was not understood. */
  isUnread: boolean
}

/** The names under which a message has its reasoning; servers repeat it under several, so the first one counts. */
const REASONING = ['reasoning_content', 'reasoning', 'reasoning_details', 'thinking', 'thinking_blocks']

/** Fields of a choice, a message or a part that are no part of an answer, or that are read elsewhere. */
const KNOWN: ReadonlySet<string> = new Set([
  ...REASONING,
  'content',
  'text',
  'refusal',
  'tool_calls',
  'function_call',
  'images',
  'role',
  'name',
  'id',
  'type',
  'object',
  'model',
  'status',
  'annotations',
  'citations',
  'search_results',
  'provider_specific_fields',
  'reasoning_signature',
  'signature',
  'tool_call_id',
  'index',
  'created',
  'seed',
  'delta',
  'message',
  'error',
  'usage',
  'logprobs',
  'finish_reason',
  'finishReason',
  'finish_details',
  'native_finish_reason',
  'done_reason',
  'stop_reason',
  'matched_stop',
  'token_ids',
  'prompt_token_ids',
  'prompt_logprobs',
  'system_fingerprint',
  'content_filter_result',
  'content_filter_results',
  'content_filter_offsets',
])

/** Fields of a part that hold what it says, the more particular ones first. */
const INNER = [
  'text',
  'content',
  'thinking',
  'reasoning',
  'reasoning_content',
  'summary',
  'refusal',
  'value',
  'message',
]

const DEPTH_MAX = 8

/** Reads a message, a piece of one, or its content alone, in any of the shapes in which servers send them. */
export function readMessage(message: unknown, into: Reading, depth = 0): void {
  if (!isObject(message)) {
    readContent(message, 'text', into)
    return
  }
  const had = into.events.length
  // By fixed names, which costs a piece of text much less than a loop over them.
  const { reasoning_content, reasoning, reasoning_details, thinking, thinking_blocks } = message
  if (reasoning_content || reasoning || reasoning_details || thinking || thinking_blocks)
    readReasoning(message, into)
  const reasoned = into.events.length
  readContent(message.content, 'text', into)
  if (into.events.length === reasoned) {
    readContent(message.refusal, 'text', into)
    readContent(message.text, 'text', into)
    if (message.audio !== undefined) readContent(objectOf(message.audio).transcript, 'text', into)
  }
  // Some servers put the message itself into what should be one.
  const isSilent = into.events.length === had && into.calls.length === 0
  if (isSilent && !isEmpty(message.message) && depth < DEPTH_MAX)
    readMessage(message.message, into, depth + 1)
  if (message.images !== undefined) readImages(message.images, into)
  if (Array.isArray(message.tool_calls)) into.calls.push(...message.tool_calls)
  else if (isObject(message.tool_calls)) into.calls.push(message.tool_calls)
  if (isObject(message.function_call)) into.calls.push({ function: message.function_call })
  // Matters only for a reply of which nothing comes.
  if (into.events.length === 0 && into.calls.length === 0) into.isUnread ||= hasUnknown(message, KNOWN)
}

function readReasoning(message: JsonObject, into: Reading): void {
  const had = into.events.length
  for (const name of REASONING) {
    const value = message[name]
    if (value === undefined || value === null || value === '') continue
    readContent(value, 'reasoning', into)
    if (into.events.length > had) break
  }
}

/** Reads a text, or parts of one. */
function readContent(value: unknown, kind: Kind, into: Reading, depth = 0): void {
  if (typeof value === 'string') {
    if (value !== '') into.events.push({ type: kind, text: value })
  } else if (typeof value === 'number') {
    into.events.push({ type: kind, text: String(value) })
  } else if (Array.isArray(value) && depth < DEPTH_MAX) {
    for (const part of value) readContent(part, kind, into, depth + 1)
  } else if (isObject(value) && depth < DEPTH_MAX) {
    readPart(value, kind, into, depth)
  } else if (!isEmpty(value)) {
    into.isUnread = true
  }
}

function readPart(part: JsonObject, kind: Kind, into: Reading, depth: number): void {
  const type = textOf(part.type)?.toLowerCase() ?? ''
  if (type.includes('image') || 'image_url' in part) readImages(part, into)
  else if (type.includes('file') || 'file' in part) readFile(part, into)
  else if (type.startsWith('tool_') || type.startsWith('function')) into.calls.push(part)
  else readWords(part, type, kind, into, depth)
}

function readWords(part: JsonObject, type: string, kind: Kind, into: Reading, depth: number): void {
  const isReasoning = kind === 'reasoning' || /think|reason/.test(type)
  const name = INNER.find((each) => !isEmpty(part[each]))
  if (name !== undefined) {
    const innerKind = isReasoning || /^(?:thinking|reasoning)/.test(name) ? 'reasoning' : 'text'
    readContent(part[name], innerKind, into, depth + 1)
  } else if (!isReasoning) {
    // Reasoning may be encrypted, so that there is nothing to read.
    into.isUnread ||= hasUnknown(part, KNOWN)
  }
}

function readImages(value: unknown, into: Reading): void {
  for (const image of Array.isArray(value) ? value : [value]) {
    const url = urlOf(image)
    if (url !== undefined)
      into.events.push({ type: 'file', file: { type: 'image', url, ...namesOf(image, url) } })
    else if (!isEmpty(image)) into.isUnread = true
  }
}

function readFile(part: JsonObject, into: Reading): void {
  const file = isObject(part.file) ? part.file : part
  const url = urlOf(file)
  const names = namesOf(file, url ?? '')
  if (url === undefined) into.isUnread = true
  else {
    const type = madeFileType(names.mediaType, file.type, part.type, names.name, url)
    into.events.push({ type: 'file', file: { type, url, ...names } })
  }
}

function namesOf(value: unknown, url: string): Pick<MadeFile, 'name' | 'mediaType'> {
  const { filename, name, mime_type, media_type } = objectOf(value)
  const given = textOf(filename) ?? textOf(name)
  const mediaType = textOf(mime_type) ?? textOf(media_type) ?? /^data:([^;,]+)/i.exec(url)?.[1]
  return { ...(given !== undefined && { name: given }), ...(mediaType !== undefined && { mediaType }) }
}

/** The address of an image or a file. */
function urlOf(value: unknown): string | undefined {
  const { image_url, url, image, source, file_data, file_url } = objectOf(value)
  const found = [
    value,
    image_url,
    objectOf(image_url).url,
    url,
    image,
    objectOf(image).url,
    file_data,
    file_url,
  ]
  const text = [...found, objectOf(source).url].find(
    (each) => typeof each === 'string' && URL_START.test(each),
  )
  return textOf(text)
}

/** Also an address that is relative to the server's, as long as it cannot be taken for a text. */
const URL_START = /^(?:https?:\/\/|data:|\/[\w.-]+\/)/i

function hasUnknown(value: JsonObject, known: ReadonlySet<string>): boolean {
  for (const [name, each] of Object.entries(value)) if (!known.has(name) && isContent(each)) return true
  return false
}

/** Whether a field may be a part of an answer: texts, and what holds some. Numbers and flags are none. */
function isContent(value: unknown): boolean {
  return (typeof value === 'string' || (typeof value === 'object' && value !== null)) && !isEmpty(value)
}

/** Whether there is nothing in a value, however deep. */
export function isEmpty(value: unknown, depth = 0): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  if (typeof value !== 'object' || depth > DEPTH_MAX) return false
  return Object.values(value).every((each) => isEmpty(each, depth + 1))
}
