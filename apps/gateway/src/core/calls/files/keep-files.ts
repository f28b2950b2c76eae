import type { ChatEvent } from '#core/agents/events.ts'
import type { MadeFile } from '#core/agents/made-file.ts'
import type { CallFiles } from '#core/uploads/kept-files/call-files.ts'
import { type FilesOfReply, isData } from './files-of-reply.ts'

/**
 * Keeps the files of a reply, all at once. One that cannot be kept has the platform's address still, if others reach that.
 *
 * @param saw - receives them for the conversation, before the end of the turn is stored
 * @returns the texts that show the files, in their order
 */
export async function keepFiles(
  files: FilesOfReply,
  kept: Pick<CallFiles, 'keep'>,
  saw: (events: readonly ChatEvent[]) => void = () => undefined,
): Promise<readonly ChatEvent[]> {
  await Promise.all(
    files.all.map(async ({ made, offered }) => {
      const content = contentOf(made, files.urlOf(made))
      const file =
        content &&
        (await kept.keep({ ...content, type: made.type, name: made.name, mediaType: made.mediaType }))
      if (file === undefined) return
      const { url, name, mediaType } = file
      files.replace(made, { ...offered, url, name: offered.name ?? name, media_type: mediaType })
    }),
  )
  const events = files.all.flatMap(({ made, offered }) => {
    const text = files.textOf(made, offered)
    return text === '' ? [] : [{ type: 'text' as const, text }]
  })
  if (events.length > 0) saw(events)
  return events
}

/** Where the content is: at an address, or within the reply. */
function contentOf(
  { url }: MadeFile,
  address: string | undefined,
): { url: string } | { bytes: Uint8Array } | undefined {
  if (address !== undefined) return { url: address }
  const [head = '', data] = url !== undefined && isData(url) ? url.split(',', 2) : []
  if (data === undefined) return undefined
  return { bytes: head.endsWith(';base64') ? Buffer.from(data, 'base64') : Buffer.from(decoded(data)) }
}

function decoded(data: string): string {
  try {
    return decodeURIComponent(data)
  } catch {
    return data
  }
}
