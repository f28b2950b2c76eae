import type { SentFile } from '@trunkline/sandbox/src/serving/list-files.ts'
import { asList, asRecord, asText } from '@trunkline/sandbox/src/serving/narrow.ts'

/* Readers of the content of a message: a text, or a list of parts in the words of OpenAI or of LangChain. */

export function textIn(content: unknown): string {
  return typeof content === 'string' ? content : asList(content).map(textOf).join('')
}

export function filesIn(content: unknown): readonly SentFile[] {
  return asList(content).flatMap((part) => fileOf(part) ?? [])
}

function textOf(part: unknown): string {
  return typeof part === 'string' ? part : asText(asRecord(part).text)
}

/** A file at an address; its bytes are in a `data:` URL. */
interface LinkedPart {
  readonly url: string
  readonly name: string
  readonly mayBeData: true
}

function fileOf(part: unknown): LinkedPart | undefined {
  const { type, ...fields } = asRecord(part)
  switch (type) {
    case 'image_url':
      return linked(asText(fields.image_url) || asText(asRecord(fields.image_url).url))
    case 'file':
    case 'image':
    case 'audio':
    case 'video': {
      const { file_data: url, filename } = asRecord(fields.file)
      const name = asText(filename) || asText(asRecord(fields.metadata).filename)
      const mediaType = asText(fields.mimeType) || asText(fields.mime_type)
      const data = asText(fields.data)
      const bytes = data === '' ? '' : `data:${mediaType};base64,${data}`
      return linked(asText(url) || asText(fields.url) || bytes, name)
    }
    default:
      return undefined
  }
}

function linked(url: string, name = ''): LinkedPart {
  return { url, name, mayBeData: true }
}

/** A part as a model of OpenAI takes it; of LangChain's own blocks its client refuses those with an address. */
export function partForModel(part: unknown): unknown {
  const { type } = asRecord(part)
  const file = type === 'image_url' ? undefined : fileOf(part)
  if (file === undefined) return part
  const { url, name } = file
  return type === 'image'
    ? { type: 'image_url', image_url: { url } }
    : { type: 'file', file: { file_data: url, filename: name } }
}
