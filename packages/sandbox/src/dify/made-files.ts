import { randomUUID } from 'node:crypto'
import type { MadeFile, MadeFiles } from '../replies/made-files.ts'

/** The fields of `message_file`, with which an app without a workflow tells a file, also one that the user has sent. */
export function messageFile({ type, url, isOfUser }: MadeFile): object {
  return { id: randomUUID(), type, belongs_to: isOfUser ? 'user' : 'assistant', url }
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
      extension: `.${name.split('.').at(-1)}`,
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
