import type { AgentFile, CallMessage } from '#core/agents/adapter.ts'
import { filesByUrl } from './files-by-url.ts'

/**
 * Creates a user message in OpenAI's format. Only images have a part for a URL. `file` parts should carry the
 * data as a `data:` URL, but some servers accept any URL in its place; the others reject it, which is better than
 * silently dropping the file.
 */
export function userMessage(query: string, files: readonly AgentFile[]): CallMessage {
  if (files.length === 0) return { role: 'user', content: query }
  const parts = filesByUrl(files).map(({ url, name, kind }) =>
    kind === 'image'
      ? { type: 'image_url', image_url: { url } }
      : { type: 'file', file: { filename: name, file_data: url } },
  )
  const text = query.trim() === '' ? [] : [{ type: 'text', text: query }]
  return { role: 'user', content: [...text, ...parts] }
}
