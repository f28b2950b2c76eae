import { posix } from 'node:path'
import type { FileByUrl, FileDescription } from '#core/agents/adapter.ts'
import { parseUrl } from '#core/base/values/parse-url.ts'

/**
 * File kinds by extension, taken from Dify's own table, because Dify rejects a file whose kind does not match
 * it. Dify reads the second row of documents only when it runs with Unstructured; without it, no kind would
 * make them usable.
 */
const KINDS: readonly (readonly [FileDescription['kind'], string])[] = [
  ['image', 'jpg jpeg png webp gif svg'],
  ['video', 'mp4 mov mpeg webm'],
  ['audio', 'mp3 m4a wav amr mpga'],
  ['document', 'txt markdown md mdx pdf html htm xlsx xls docx csv vtt properties'],
  ['document', 'doc eml msg pptx xml epub ppt'],
]

const KIND_BY_EXTENSION = new Map(
  KINDS.flatMap(([kind, extensions]) => extensions.split(' ').map((extension) => [`.${extension}`, kind])),
)

/** Derives a file's name and kind from its URL alone, for files that the gateway does not fetch. */
export function agentFile(url: string): FileByUrl {
  return { url, ...describeFile(decoded(parseUrl(url)?.pathname.split('/').at(-1) ?? '')) }
}

/** Derives the kind from the name, which is all that most platforms look at. */
export function describeFile(name: string): FileDescription {
  return { name: name || 'file', kind: KIND_BY_EXTENSION.get(posix.extname(name).toLowerCase()) ?? 'custom' }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
