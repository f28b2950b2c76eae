import type { Runtime } from '#core/base/runtime.ts'
import { newToken } from './file-address.ts'
import { type FileAddress, type FileStorage, StorageError } from './storage.ts'

/**
 * Writes a small file, reads it back by `read`, and removes it.
 *
 * @throws StorageError, and whatever `read` throws
 */
export async function checkWithFile(
  storage: FileStorage,
  runtime: Pick<Runtime, 'randomBytes'>,
  read: (address: FileAddress) => Promise<Uint8Array>,
): Promise<void> {
  const address = { token: newToken(runtime, CHECK), name: 'check.txt' }
  const file = { ...address, mediaType: 'text/plain', isAttachment: true }
  await storage.write(file, content(), new AbortController().signal)
  try {
    if (!CONTENT.equals(await read(address))) {
      throw new StorageError('The storage returns other bytes than were written.')
    }
  } finally {
    await storage.remove([address])
  }
}

/** In the place of an installation, so that the file is never taken for an upload. */
const CHECK = '--check-'

const CONTENT = Buffer.from('This file checks the storage and may be removed.')

async function* content() {
  yield CONTENT
}
