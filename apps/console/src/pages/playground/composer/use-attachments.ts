import { AbortError } from '@trunkline/sdk'
import { useRef, useState } from 'react'
import { useSession } from '../../../session/use-session.ts'
import type { PlaygroundKey } from '../chats/playground-key.ts'
import type { SentFile } from '../chats/turn.ts'
import { uploadClient, uploadFile } from './upload-file.ts'

/** A file that was chosen for the next message. */
export interface Attachment {
  readonly number: number
  readonly name: string
  /** Undefined in a message that was given back. */
  readonly size: number | undefined
  /** Between 0 and 1. */
  readonly progress: number
  readonly upload: SentFile | undefined
  readonly error: unknown
}

export type Attachments = ReturnType<typeof useAttachments>

/**
 * Files are uploaded when they are chosen, and deleted at the gateway when they are removed again.
 */
export function useAttachments(agent: string, key: PlaygroundKey) {
  const { username } = useSession()
  const [list, setList] = useState<readonly Attachment[]>([])
  const lastNumber = useRef(0)
  const running = useRef(new Map<number, AbortController>())

  const change = (number: number, part: Partial<Attachment>) =>
    setList((all) => all.map((one) => (one.number === number ? { ...one, ...part } : one)))

  async function upload(number: number, file: File) {
    const controller = new AbortController()
    running.current.set(number, controller)
    try {
      const upload = await uploadFile(file, {
        key,
        agent,
        createdBy: username,
        onProgress: (progress) => change(number, { progress }),
        signal: controller.signal,
      })
      change(number, { progress: 1, upload })
    } catch (error) {
      if (!(error instanceof AbortError)) change(number, { error })
    }
    running.current.delete(number)
  }

  return {
    list,
    /** False while files are being uploaded, or where one could not be. */
    isReady: list.every(({ upload }) => upload !== undefined),
    /** Whether a file could not be uploaded, which keeps the message from being sent. */
    hasRefused: list.some(({ error }) => error !== undefined),
    add(files: Iterable<File>): void {
      for (const file of files) {
        const number = ++lastNumber.current
        const { name, size } = file
        setList((all) => [...all, { number, name, size, progress: 0, upload: undefined, error: undefined }])
        void upload(number, file)
      }
    },
    remove({ number, upload }: Attachment): void {
      setList((all) => all.filter((one) => one.number !== number))
      running.current.get(number)?.abort()
      // What cannot be deleted now expires by itself.
      if (upload !== undefined)
        void uploadClient(key)
          .then((client) => client.uploads.delete(upload.id))
          .catch(() => undefined)
    },
    /** Takes the files for a message, after which the list is empty. */
    take(): readonly SentFile[] {
      setList([])
      return list.flatMap(({ upload }) => upload ?? [])
    },
    /** Gives back the files of a message that was not sent. */
    giveBack(files: readonly SentFile[]) {
      setList((all) => [...files.map((file) => uploaded(file, lastNumber.current++)), ...all])
    },
  }
}

const uploaded = (upload: SentFile, index: number): Attachment => ({
  number: index + 1,
  name: upload.name,
  size: undefined,
  progress: 1,
  upload,
  error: undefined,
})
