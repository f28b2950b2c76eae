import type { AgentCall, AgentFile } from '#core/agents/adapter.ts'
import { textOfQuestion } from '#core/agents/translate/text-of-question.ts'
import { type JsonObject, parseJson } from '#core/base/values/json.ts'

/** The content of a question with its files. */
export function contentOf(call: AgentCall): object {
  const { files } = call
  const text = textOfQuestion(call)
  // Coze rejects an `object_string` that contains only a text.
  if (files.length === 0) return { content_type: 'text', content: text }
  const parts = files.map(filePart)
  return { content_type: 'object_string', content: JSON.stringify([{ type: 'text', text }, ...parts]) }
}

function filePart(file: AgentFile): object {
  const type = file.kind === 'image' || file.kind === 'audio' ? file.kind : 'file'
  return 'url' in file ? { type, file_url: file.url } : { type, file_id: file.platformFileId }
}

/** What a message says, of which the kinds that are no text are left out. */
export function contentIn({ content, content_type }: JsonObject): unknown {
  if (content_type === 'object_string') return parseJson(content)
  return content_type === undefined || content_type === 'text' ? content : undefined
}
