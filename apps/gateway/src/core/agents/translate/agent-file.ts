import type { AgentFile } from '#core/agents/adapter.ts'

/**
 * File kinds by extension, taken from Dify's own table, because Dify rejects a file whose kind does not match
 * it. Dify reads the second row of documents only when it runs with Unstructured; without it, no kind would
 * make them usable.
 */
const KINDS: readonly (readonly [AgentFile['kind'], string])[] = [
  ['image', 'jpg jpeg png webp gif svg'],
  ['video', 'mp4 mov mpeg webm'],
  ['audio', 'mp3 m4a wav amr mpga'],
  ['document', 'txt markdown md mdx pdf html htm xlsx xls docx csv vtt properties'],
  ['document', 'doc eml msg pptx xml epub ppt'],
]

const KIND_BY_EXTENSION = new Map(
  KINDS.flatMap(([kind, extensions]) => extensions.split(' ').map((extension) => [extension, kind] as const)),
)

/** Derives a file's name and kind from its URL alone, because the gateway never fetches it. */
export function agentFile(url: string): AgentFile {
  const name = decoded(URL.parse(url)?.pathname.split('/').at(-1) ?? '') || 'file'
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return { url, name, kind: KIND_BY_EXTENSION.get(extension) ?? 'custom' }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
