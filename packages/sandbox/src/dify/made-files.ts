import { randomUUID } from 'node:crypto'
import type { MadeFile, MadeFiles } from '../replies/made-files.ts'

/** The fields of `message_file`, with which an app without a workflow tells a file, also one that the user has sent. */
export function messageFile({ type, url, isOfUser }: MadeFile): object {
  return { id: randomUUID(), type, belongs_to: isOfUser ? 'user' : 'assistant', url }
}

/**
 * The files of a message at its end, as later releases have them: also those of the user, which only the way in which they came
 * shows. Null if there are none.
 */
export function filesOfMessage({ files }: MadeFiles): readonly object[] | null {
  if (files.length === 0) return null
  return files.map(({ type, url, name, mediaType, size, isOfUser }) => ({
    related_id: randomUUID(),
    extension: extensionOf(name),
    filename: name,
    size,
    mime_type: mediaType,
    transfer_method: isOfUser ? 'local_file' : 'tool_file',
    type,
    url,
    upload_file_id: randomUUID(),
    remote_url: '',
  }))
}

function extensionOf(name: string): string {
  return `.${name.split('.').at(-1)}`
}

/** The files of a workflow, as its outputs and the ends of runs and messages have them. It has none of the user's. */
export function flowFiles({ files }: MadeFiles): readonly object[] {
  return files
    .filter(({ isOfUser }) => !isOfUser)
    .map(({ type, url, name, mediaType, size }) => ({
      dify_model_identity: '__dify__file__',
      id: null,
      tenant_id: '6b8c1f52-7d3e-4a90-8c25-1e4f7a9b0d36',
      type,
      transfer_method: 'tool_file',
      remote_url: null,
      related_id: randomUUID(),
      filename: name,
      extension: extensionOf(name),
      mime_type: mediaType,
      size,
      url,
    }))
}

/** The outputs of a workflow app: a text, files, or both. */
export function workflowOutputs(text: string, made: MadeFiles): object {
  const files = flowFiles(made)
  return { ...(!made.isAlone && { text }), ...(files.length > 0 && { files }) }
}
