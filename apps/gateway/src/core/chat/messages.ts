import type { CallMessage } from '#core/agents/adapter.ts'
import { refuseField } from '#core/errors.ts'
import type { FieldPath } from '#core/field-path.ts'
import { requireOneOf } from '#core/input-rules.ts'
import { fileUrlProblem, findRefusedUrl } from './file-urls.ts'

/** The request of a platform that takes no message array: one text and its files. */
export interface Prompt {
  readonly query: string
  readonly files: readonly string[]
}

/**
 * The last user message, which is all that a platform needs that stores the conversation itself.
 *
 * @throws Problem `invalid_request` if there is no user message
 */
export function lastUserPrompt(messages: readonly CallMessage[]): Prompt {
  const index = messages.findLastIndex(({ role }) => role === 'user')
  const message = messages[index]
  if (message === undefined) refuseField(['messages'], 'expected a message of role user.')
  return promptOf(message, index)
}

/**
 * The whole array as one text, each message after the name of its role. Only calls that name no conversation are flattened
 * like this: without one, the platform has no other way to see the history.
 *
 * @throws Problem `invalid_request` if there is no user message
 */
export function wholePrompt(messages: readonly CallMessage[]): Prompt {
  if (messages.length === 1) return lastUserPrompt(messages)
  lastUserPrompt(messages)
  const prompts = messages.map(promptOf)
  const paragraphs = messages.map(
    ({ role }, index) => `${ROLE_LABELS.get(role) ?? role}: ${prompts[index]?.query ?? ''}`,
  )
  return { query: paragraphs.join('\n\n'), files: prompts.flatMap(({ files }) => files) }
}

const ROLE_LABELS: ReadonlyMap<string, string> = new Map([
  ['developer', 'System'],
  ['system', 'System'],
  ['user', 'User'],
  ['assistant', 'Assistant'],
  ['tool', 'Tool'],
  ['function', 'Tool'],
])

export const MESSAGE_ROLES = [...ROLE_LABELS.keys()]

/** @throws Problem `invalid_request` if the array is empty or a role is unknown */
export function requireMessages(messages: readonly CallMessage[]): void {
  if (messages.length === 0) refuseField(['messages'], 'expected at least one message.')
  for (const [index, { role }] of messages.entries()) {
    requireOneOf(['messages', index, 'role'], MESSAGE_ROLES, role)
  }
}

/**
 * The array as it is sent to `openai` agents: content parts of known types, in which every URL is public or carries its
 * content. A server may fetch any URL that it receives, and which fields it reads is not known here.
 *
 * @throws Problem `invalid_request` with the path of the field
 */
export function publicMessages(messages: readonly CallMessage[]): readonly CallMessage[] {
  return messages.map((message, index) => {
    requirePublicUrls(message.extra, ['messages', index], isMessageText)
    const { content } = message
    const parts = partsOf(message, index)
    if (typeof content !== 'object' || content === null) return message
    for (const part of parts) requireUrlFields(part)
    const kept = parts.filter(({ type }) => type !== 'refusal').map(({ fields }) => fields)
    // Servers reject an empty list of parts, which would remain of a message that is only a refusal.
    return { ...message, content: kept.length === 0 && parts.length > 0 ? '' : kept }
  })
}

/**
 * Requires that every URL in the value, at any depth, is public.
 *
 * @throws Problem `invalid_request` with the path of the field
 */
export function requirePublicUrls(
  value: unknown,
  field: FieldPath,
  isText?: (name: string) => boolean,
): void {
  const finding = findRefusedUrl(value, field, isText)
  if (finding !== undefined) refuseField(finding.field, `expected ${finding.expected}.`)
}

const MESSAGE_TEXTS = new Set([
  'name',
  'tool_call_id',
  'tool_calls',
  'function_call',
  'refusal',
  'reasoning',
  'reasoning_content',
])

function isMessageText(name: string): boolean {
  return MESSAGE_TEXTS.has(name)
}

function promptOf(message: CallMessage, index: number): Prompt {
  if (typeof message.content === 'string') return { query: message.content, files: [] }
  const texts: string[] = []
  const files: string[] = []
  for (const part of partsOf(message, index)) {
    const { type, field, text } = part
    if (type === 'text') texts.push(text)
    else if (type === 'input_audio') {
      refuseField([...field, 'type'], 'this agent takes parts of type text, image_url and file.')
    } else if (type !== 'refusal') files.push(requireFileUrl(part))
  }
  return { query: texts.join('\n'), files }
}

const PART_TYPES = ['text', 'image_url', 'file', 'input_audio', 'refusal'] as const
type PartType = (typeof PART_TYPES)[number]

type Fields = Readonly<Record<string, unknown>>

interface Part {
  readonly type: PartType
  /** The path of the part, such as `['messages', 0, 'content', 1]`. */
  readonly field: FieldPath
  readonly text: string
  readonly fields: Fields
}

/**
 * The checked content parts of a message; empty if its content is a string or absent. A single part is also accepted
 * without an array around it.
 */
function partsOf({ content }: CallMessage, index: number): readonly Part[] {
  const field = ['messages', index, 'content']
  if (typeof content === 'string' || content === null || content === undefined) return []
  if (Array.isArray(content)) return content.map((part, at) => checkedPart(part, [...field, at]))
  if (isFields(content)) return [checkedPart(content, field)]
  return refuseField(field, 'expected a string, an array of parts or null.')
}

function checkedPart(part: unknown, field: FieldPath): Part {
  const fields = isFields(part) ? part : {}
  const type = PART_TYPES.find((known) => known === fields.type)
  if (type === undefined) {
    const known = PART_TYPES.filter((each) => each !== 'refusal').join(', ')
    return refuseField([...field, 'type'], `expected one of ${known}.`)
  }
  const text = fields.text ?? (type === 'text' ? undefined : '')
  // The search for URLs skips this field, so it must not hold an object with URLs in it.
  if (typeof text !== 'string') refuseField([...field, 'text'], 'expected a string.')
  requirePublicUrls(fields, field, isPartText)
  return { type, field, text, fields }
}

function isPartText(name: string): boolean {
  return name === 'text' || name === 'refusal'
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Requires valid URLs in the fields that are meant for URLs. The search for URLs is not enough there: a server may interpret
 * as a URL what does not look like one.
 */
function requireUrlFields(part: Part): void {
  for (const [field, url] of urlFields(part)) {
    if (url.startsWith('data:') || field.at(-1) === 'file_data') continue
    requireUrl(url, field)
  }
}

/** The URL of a file, for platforms that accept files only by URL. */
function requireFileUrl(part: Part): string {
  const [first] = urlFields(part)
  if (first === undefined) {
    refuseField([...part.field, part.type], 'expected a URL; this agent takes files by URL alone.')
  }
  const [field, url] = urlFields(part).find(([, text]) => fileUrlProblem(text) === undefined) ?? first
  return requireUrl(url, field)
}

function requireUrl(url: string, field: FieldPath): string {
  const problem = fileUrlProblem(url)
  if (problem !== undefined) refuseField(field, `expected ${problem}.`)
  return url
}

/** `image_url` parts have one field for their URL; for `file` parts the field depends on the server. */
function urlFields({ type, field, fields }: Part): readonly (readonly [field: FieldPath, text: string])[] {
  if (type !== 'image_url' && type !== 'file') return []
  const holder = fields[type]
  const places: readonly (readonly [FieldPath, unknown])[] = isFields(holder)
    ? (type === 'image_url' ? ['url'] : ['url', 'file_url', 'file_data']).map(
        (name) => [[...field, type, name], holder[name]] as const,
      )
    : [[[...field, type], holder]]
  return places.flatMap(([place, value]) => (typeof value === 'string' ? [[place, value] as const] : []))
}
