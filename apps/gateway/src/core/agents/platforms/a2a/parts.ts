import type { AgentCall } from '#core/agents/adapter.ts'
import { type MadeFile, madeFileType } from '#core/agents/made-file.ts'
import { type PauseAnswer, textOfAnswer } from '#core/agents/pause.ts'
import { filesByUrl } from '#core/agents/translate/files-by-url.ts'
import { isObject, type JsonObject, listOf, objectOf, parseJson, textOf } from '#core/base/values/json.ts'
import { omitUndefined } from '#core/base/values/omit-undefined.ts'
import { type AdkStep, adkAnswer, adkStepOf, isThought } from './adk-parts.ts'
import type { Dialect } from './card.ts'

/** A part of a message that is sent, in the words of version 1.0. */
type SentPart =
  | { readonly text: string }
  | { readonly data: unknown; readonly mediaType: string; readonly metadata?: JsonObject }
  | { readonly url: string; readonly filename: string }
  | { readonly raw: string; readonly filename: string; readonly mediaType: string }

/** What an agent has said in parts: its text, its files and its data. */
export interface ReadParts {
  readonly text: string
  readonly thoughts: string
  readonly files: readonly MadeFile[]
  readonly data: readonly unknown[]
  readonly steps: readonly AdkStep[]
}

/** The user's message as an agent takes it. */
export function messageOf(
  call: AgentCall,
  dialect: Dialect,
  ids: { contextId?: string; taskId?: string },
): object {
  const parts = sentParts(call)
  const { callId: messageId } = call
  if (dialect !== 'rpc-0.3') return { messageId, role: 'ROLE_USER', parts, ...ids }
  return { kind: 'message', messageId, role: 'user', parts: parts.map(formerPart), ...ids }
}

function sentParts({ query, answer, files, variables }: AgentCall): readonly SentPart[] {
  const question = query.trim() === '' && files.length > 0 ? [] : [{ text: query }]
  const asked: readonly SentPart[] = answer === undefined ? question : [answerPart(answer)]
  return [
    ...asked,
    ...(Object.keys(variables).length > 0 ? [{ data: variables, mediaType: 'application/json' }] : []),
    ...filesByUrl(files).map(({ url, name }) => filePart(url, name)),
  ]
}

/** An answer with data goes as data: an agent that asks for it, as Mastra does, takes no text in its place. */
function answerPart(answer: PauseAnswer): SentPart {
  const { fields, option, value, pause } = answer
  const text = textOfAnswer(answer)
  const data = value ?? (Object.keys(fields).length > 0 ? fields : parseJson(text))
  const { adk } = objectOf(pause.resume)
  if (isObject(adk)) {
    const result = adkAnswer(adk, option, data ?? text)
    return { data: result, mediaType: 'application/json', metadata: { adk_type: 'function_response' } }
  }
  return isObject(data) ? { data, mediaType: 'application/json' } : { text }
}

const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,/i

function filePart(url: string, filename: string): SentPart {
  const [head, mediaType] = DATA_URL.exec(url) ?? []
  if (head === undefined) return { url, filename }
  return { raw: url.slice(head.length), filename, mediaType: mediaType || 'application/octet-stream' }
}

/** The same part in the words of 0.3. */
function formerPart(part: SentPart): object {
  if ('text' in part) return { kind: 'text', text: part.text }
  if ('data' in part) return { kind: 'data', ...omitUndefined({ data: part.data, metadata: part.metadata }) }
  const { filename: name } = part
  const file = 'url' in part ? { uri: part.url, name } : { bytes: part.raw, name, mimeType: part.mediaType }
  return { kind: 'file', file }
}

/** Reads the parts of a message or an artifact, in the words of either version. */
export function readParts(message: unknown): ReadParts {
  const parts = listOf(objectOf(message).parts).map(objectOf)
  const said = parts.filter((part) => !isThought(part))
  const steps = said.map(adkStepOf)
  return {
    text: said.map(({ text }) => textOf(text) ?? '').join(''),
    thoughts: parts
      .filter(isThought)
      .map(({ text }) => textOf(text) ?? '')
      .join(''),
    files: said.flatMap(fileIn),
    data: said.flatMap(({ data }, index) =>
      data === undefined || data === null || steps[index] !== undefined ? [] : [data],
    ),
    steps: steps.filter((step) => step !== undefined),
  }
}

/** Of others a URL with the content cannot be made. */
const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/

function fileIn(part: JsonObject): readonly MadeFile[] {
  const file = objectOf(part.file)
  const given = textOf(part.mediaType) ?? textOf(file.mimeType)
  const mediaType = given !== undefined && MEDIA_TYPE.test(given) ? given : undefined
  const name = textOf(part.filename) ?? textOf(file.name)
  const raw = textOf(part.raw) ?? textOf(file.bytes)
  const url =
    raw === undefined
      ? (textOf(part.url) ?? textOf(file.uri))
      : `data:${mediaType ?? 'application/octet-stream'};base64,${raw}`
  if (url === undefined) return []
  return [{ type: madeFileType(mediaType, name, url), url, ...omitUndefined({ name, mediaType }) }]
}
