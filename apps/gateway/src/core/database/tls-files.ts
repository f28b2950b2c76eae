import { OperatorError } from '#core/base/errors/operator-error.ts'
import { readRegularFile, UnreadableFile } from '#core/base/read-regular-file.ts'
import { messageOf } from './unusable-database.ts'

/** The parameters of a URL that name files, which the driver reads anew for each connection, while everything else waits. */
const PARAMETERS = ['sslrootcert', 'sslcert', 'sslkey']

/** @throws OperatorError if a file that the URL names cannot be read, is a pipe, or is in a file system that does not answer */
export async function requireTlsFiles(url: string): Promise<void> {
  const named = URL.parse(url)?.searchParams
  for (const name of PARAMETERS) {
    const path = named?.get(name)
    if (!path) continue
    await readRegularFile(path).catch((cause: unknown) => {
      const why =
        cause instanceof UnreadableFile ? `${path} cannot be read: ${cause.message}` : messageOf(cause)
      throw new OperatorError(`DATABASE_URL: ${name}: ${why}.`, { cause })
    })
  }
}
