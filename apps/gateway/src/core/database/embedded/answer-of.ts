import type { PGlite } from '@electric-sql/pglite'
import { joined } from './engine-socket.ts'

/** Has the engine work on messages of PostgreSQL's protocol, and returns its answer to all of them. */
export async function answerOf(pglite: PGlite, message: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  await pglite.execProtocolRawStream(message, {
    syncToFs: false,
    // The chunk is a view of the engine's memory, which it overwrites.
    onRawData: (chunk) => chunks.push(chunk.slice()),
  })
  return joined(chunks)
}
