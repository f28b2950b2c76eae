import { FileError, fileError } from './file-error.ts'
import type { FileContent } from './multipart.ts'

/**
 * Opens a file by its path, to be read while it is sent, and again for each attempt, in every runtime that has `node:fs`.
 * `openAsBlob` is not used: it hides why a file cannot be opened and takes directories for files, and in a form, Node ends the
 * process if such a file has changed.
 *
 * @throws FileError if there is no such file
 */
export async function fileSource(path: string): Promise<FileContent> {
  // A name that bundlers do not follow: there is no such module in a browser.
  const fs = 'node:fs'
  try {
    const { createReadStream, promises } = (await import(
      /* @vite-ignore */ /* webpackIgnore: true */ fs
    )) as typeof import('node:fs')
    const file = await promises.stat(path)
    const { size, mtimeMs } = file
    // Opening a pipe would wait for its other end, and a device may have no end.
    if (!file.isFile()) throw new FileError(`${path} is a directory or a device.`, { code: 'EISDIR' })
    return {
      size,
      async *pieces() {
        // A file that always grows has no end, but one byte more is enough to know that it has grown.
        yield* createReadStream(path, { end: size })
        const now = await promises.stat(path)
        // Thrown before the end of the form, so that a mixture of two versions is not stored.
        if (now.size !== size || now.mtimeMs !== mtimeMs)
          throw new FileError(`${path} was changed while it was sent.`, { code: 'FILE_CHANGED' })
      },
    }
  } catch (cause) {
    throw fileError(cause)
  }
}
