import { Trunkline } from '@trunkline/sdk'
import type { PlaygroundKey } from '../chats/playground-key.ts'
import type { SentFile } from '../chats/turn.ts'

interface UploadOptions {
  readonly key: PlaygroundKey
  readonly agent: string
  /** The user's name. */
  readonly createdBy: string
  /** Called with a number between 0 and 1. */
  onProgress?(progress: number): void
  readonly signal?: AbortSignal
}

/** Stores a file at the gateway, for a message or a form. */
export async function uploadFile(
  file: File,
  { key, agent, createdBy, onProgress, signal }: UploadOptions,
): Promise<SentFile> {
  const client = await uploadClient(key)
  const { id, url } = await client.uploads.create(
    file,
    {
      created_by: createdBy,
      agent,
      onProgress: ({ loaded, total }) => onProgress?.(total ? loaded / total : 0),
    },
    { signal },
  )
  return { id, url, name: file.name }
}

export async function uploadClient(key: PlaygroundKey): Promise<Trunkline> {
  return new Trunkline({
    baseURL: location.origin,
    apiKey: await key.get(),
    // The key belongs to the visitor, who is logged in.
    dangerouslyAllowBrowser: true,
    maxRetries: 0,
  })
}
