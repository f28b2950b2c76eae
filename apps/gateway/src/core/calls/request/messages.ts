import type { CallMessage, FileByUrl } from '#core/agents/adapter.ts'
import { refuseField } from '#core/base/errors/errors.ts'
import { type FieldPath, joinPath } from '#core/base/values/field-path.ts'
import { requireOneOf } from '#core/requests/input/input-rules.ts'
import { findRefusedUrl, type RequestUrls, type UrlSearch } from './file-urls.ts'

/** A file of a call: its URL, or a file that the request itself carries. */
export type CallFile = string | InlineFile

/** A file and the field of the request that it is in. */
export interface NamedFile {
  readonly field: FieldPath
  readonly file: CallFile
}

export interface InlineFile {
  /** A `data:` URL in base64. */
  readonly dataUrl: string
  readonly filename: string | undefined
}

/** What the files of a message may be. */
export interface FileRules {
  readonly urls: RequestUrls
  /** Whether the agent can receive files that the request carries. */
  readonly takesInlineFiles: boolean
}

/** The request of a platform that takes no message array: one text and its files. */
export interface Prompt {
  readonly query: string
  readonly files: readonly NamedFile[]
}

/**
 * The last user message, which is all that a platform needs that stores the conversation itself.
 *
 * @throws Problem `invalid_request` if there is no user message
 */
export function lastUserPrompt(messages: readonly CallMessage[], rules: FileRules): Prompt {
  const index = messages.findLastIndex(({ role }) => role === 'user')
  const message = messages[index]
  if (message === undefined) refuseField(['messages'], 'expected a message of role user.')
  return promptOf(message, index, rules)
}

/**
 * The whole array as one text, each message after the name of its role. Only calls that name no conversation are flattened
 * like this: without one, the platform has no other way to see the history.
 *
 * @throws Problem `invalid_request` if there is no user message
 */
export function wholePrompt(messages: readonly CallMessage[], rules: FileRules): Prompt {
  if (messages.length === 1) return lastUserPrompt(messages, rules)
  lastUserPrompt(messages, rules)
  const prompts = messages.map((message, index) => promptOf(message, index, rules))
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
export function publicMessages(messages: readonly CallMessage[], rules: FileRules): readonly CallMessage[] {
  const problemOf = (url: string) => rules.urls.problemOf(url)
  return messages.map((message, index) => {
    const { content, extra } = message
    if (extra !== undefined)
      requirePublicUrls(extra, ['messages', index], { problemOf, isText: isMessageText })
    const parts = partsOf(message, index, rules)
    if (typeof content !== 'object' || content === null) return message
    for (const part of parts) requireUrlFields(part, rules)
    const kept = parts.filter(({ type }) => type !== 'refusal').map(({ fields }) => fields)
    // Servers reject an empty list of parts, which would remain of a message that is only a refusal.
    return { ...message, content: kept.length === 0 && parts.length > 0 ? '' : kept }
  })
}

/** The URLs of the files in the messages, each with the path of its field. */
export function fileUrlsOf(
  messages: readonly CallMessage[],
): readonly (readonly [field: FieldPath, url: string])[] {
  return messages.flatMap((message, index) =>
    contentParts(message, index).flatMap(([field, fields]) => urlFields(fields, field)),
  )
}

/** Replaces URLs of files; a `data:` URL moves to the field that servers read it from. */
export function withFileUrls(
  messages: readonly CallMessage[],
  replacements: ReadonlyMap<string, FileByUrl>,
): readonly CallMessage[] {
  return messages.map((message, index) => {
    const parts = contentParts(message, index)
    const isAffected = parts.some(([field, fields]) =>
      urlFields(fields, field).some(([, url]) => replacements.has(url)),
    )
    if (!isAffected) return message
    return { ...message, content: parts.map(([field, fields]) => withFileUrl(fields, field, replacements)) }
  })
}

function withFileUrl(fields: Fields, field: FieldPath, replacements: ReadonlyMap<string, FileByUrl>): Fields {
  for (const [, url] of urlFields(fields, field)) {
    const file = replacements.get(url)
    if (file === undefined) continue
    if (fields.type === 'file') return { ...fields, file: { filename: file.name, file_data: file.url } }
    const image = fields.image_url
    return { ...fields, image_url: { ...(isFields(image) ? image : {}), url: file.url } }
  }
  return fields
}

/** The content parts of a message that has been checked, each with its path. */
function contentParts({ content }: CallMessage, index: number): [field: FieldPath, fields: Fields][] {
  if (typeof content === 'string') return []
  const field = ['messages', index, 'content']
  const parts = Array.isArray(content) ? content : isFields(content) ? [content] : []
  return parts.map((part, at) => [[...field, at], isFields(part) ? part : {}])
}

/**
 * Requires that every URL in the value, at any depth, is public.
 *
 * @throws Problem `invalid_request` with the path of the field
 */
export function requirePublicUrls(value: unknown, field: FieldPath, search: UrlSearch): void {
  const finding = findRefusedUrl(value, field, search)
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

function promptOf(message: CallMessage, index: number, rules: FileRules): Prompt {
  if (typeof message.content === 'string') return { query: message.content, files: [] }
  const texts: string[] = []
  const files: NamedFile[] = []
  for (const part of partsOf(message, index, rules)) {
    const { type, field, text } = part
    if (type === 'text') texts.push(text)
    else if (type === 'input_audio') {
      refuseField([...field, 'type'], 'this agent takes parts of type text, image_url and file.')
    } else if (type !== 'refusal') files.push(requireFile(part, rules))
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
function partsOf({ content }: CallMessage, index: number, rules: FileRules): readonly Part[] {
  if (typeof content === 'string' || content === null || content === undefined) return []
  const field = ['messages', index, 'content']
  if (Array.isArray(content)) return content.map((part, index) => checkedPart(part, [...field, index], rules))
  if (isFields(content)) return [checkedPart(content, field, rules)]
  return refuseField(field, 'expected a string, an array of parts or null.')
}

function checkedPart(part: unknown, field: FieldPath, { urls }: FileRules): Part {
  const fields = isFields(part) ? part : {}
  const type = PART_TYPES.find((known) => known === fields.type)
  if (type === undefined) {
    const known = PART_TYPES.filter((each) => each !== 'refusal').join(', ')
    return refuseField([...field, 'type'], `expected one of ${known}.`)
  }
  const text = fields.text ?? (type === 'text' ? undefined : '')
  // The search for URLs skips this field, so it must not hold an object with URLs in it.
  if (typeof text !== 'string') refuseField([...field, 'text'], 'expected a string.')
  // Only in these fields an issued URL is replaced by one for the platform, after the check of its owner.
  const isUrlField = (place: FieldPath) =>
    urlFields(fields, field).some(([known]) => joinPath(known) === joinPath(place))
  requirePublicUrls(fields, field, {
    problemOf: (url, place, value) =>
      isUrlField(place) && urls.isIssued(value) ? urls.fileProblemOf(value) : urls.problemOf(url),
    isText: isPartText,
  })
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
function requireUrlFields({ fields, field: place }: Part, rules: FileRules): void {
  for (const [field, url] of urlFields(fields, place)) {
    if (url.startsWith('data:') || field.at(-1) === 'file_data') continue
    requireUrl(url, field, rules)
  }
}

/** The file of a part, for platforms that take no message array. */
function requireFile({ type, field: place, fields }: Part, rules: FileRules): NamedFile {
  const expected = rules.takesInlineFiles
    ? 'expected a URL, or a data: URL in base64.'
    : 'expected a URL; this agent takes files by URL alone.'
  const found = urlFields(fields, place)
  const [first] = found
  if (first === undefined) return refuseField([...place, type], expected)
  const inline = rules.takesInlineFiles ? found.find(([, text]) => text.startsWith('data:')) : undefined
  if (inline !== undefined) return { field: inline[0], file: inlineFile(inline[1], inline[0], fields) }
  const [field, url] = found.find(([, text]) => rules.urls.fileProblemOf(text) === undefined) ?? first
  if (url.startsWith('data:')) refuseField(field, expected)
  return { field, file: requireUrl(url, field, rules) }
}

/** At least two characters, which are the shortest form of a byte. */
const BASE64_DATA_URL = /^data:[^,]*;base64,[A-Za-z0-9+/]{2,}={0,2}$/

function inlineFile(dataUrl: string, field: FieldPath, { file }: Fields): InlineFile {
  if (!BASE64_DATA_URL.test(dataUrl)) refuseField(field, 'expected a data: URL in base64.')
  const filename = isFields(file) && typeof file.filename === 'string' ? file.filename : undefined
  return { dataUrl, filename }
}

function requireUrl(url: string, field: FieldPath, rules: FileRules): string {
  const problem = rules.urls.fileProblemOf(url)
  if (problem !== undefined) refuseField(field, `expected ${problem}.`)
  return url
}

/** The URL of an image has one field; that of a file has several, depending on the server. */
function urlFields(fields: Fields, field: FieldPath): readonly (readonly [field: FieldPath, text: string])[] {
  const { type } = fields
  if (type !== 'image_url' && type !== 'file') return []
  const holder = fields[type]
  const places: readonly (readonly [FieldPath, unknown])[] = isFields(holder)
    ? (type === 'image_url' ? ['url'] : ['url', 'file_url', 'file_data']).map(
        (name) => [[...field, type, name], holder[name]] as const,
      )
    : [[[...field, type], holder]]
  return places.flatMap(([place, value]) => (typeof value === 'string' ? [[place, value] as const] : []))
}
