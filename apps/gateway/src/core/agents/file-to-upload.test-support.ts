import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FileToUpload } from './adapter.ts'
import { describeFile } from './translate/agent-file.ts'

/** Creates a file to upload, whose stream gives the content in pieces of at most `pieceBytes`. */
export function fileToUpload(
  content: string | Uint8Array,
  {
    pieceBytes = 64 * 1024,
    name = 'notes.txt',
    ...overrides
  }: Partial<FileToUpload> & { pieceBytes?: number } = {},
): FileToUpload {
  const bytes = Buffer.from(content)
  return {
    ...describeFile(name),
    mediaType: 'text/plain',
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    body: Readable.from(piecesOf(bytes, pieceBytes), { objectMode: false }),
    ...overrides,
  }
}

function* piecesOf(bytes: Buffer, pieceBytes: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}
