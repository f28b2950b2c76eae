import type { AgentFile, CallMessage } from '#core/agents/adapter.ts'

/**
 * A person's turn in OpenAI's form. Only images have a part that takes a URL; `file` parts want the data, though some
 * servers take a URL for it: those read other files, the rest refuse them, which is better than passing them over.
 */
export function userMessage(query: string, files: readonly AgentFile[]): CallMessage {
  if (files.length === 0) return { role: 'user', content: query }
  const parts = files.map(({ url, name, kind }) =>
    kind === 'image'
      ? { type: 'image_url', image_url: { url } }
      : { type: 'file', file: { filename: name, file_data: url } },
  )
  return { role: 'user', content: [{ type: 'text', text: query }, ...parts] }
}
