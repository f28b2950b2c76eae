import type { Readable } from 'node:stream'
import { fail, Problem } from '#core/base/errors/errors.ts'
import type { Runtime } from '#core/base/runtime.ts'
import type { FieldPath } from '#core/base/values/field-path.ts'
import { parseUrl } from '#core/base/values/parse-url.ts'
import type { Sql } from '#core/database/database.ts'
import type { PrismaClient, Upload } from '#generated/prisma/client.ts'
import { ofLength } from './storage/of-length.ts'
import { type FileAddress, FileMissing, type FileStorage, StorageError } from './storage/storage.ts'
import { addressOf } from './uploads.ts'

/** For whom a platform has a copy of an upload. */
export interface CopyHolder {
  readonly agent: string
  /** A hash of the credential with which the gateway calls the platform. */
  readonly credential: string
  /** The id of the end user at the platform. */
  readonly endUser: string
}

/** Whose files a chat may use. */
export interface FileOwner {
  readonly ownerId: string
  /** The end user to whom the request is bound; undefined if it may use those of all of them. */
  readonly endUser: string | undefined
}

/** The uploads of callers, for chats that refer to them by the URLs that the gateway issued. */
export type IssuedFiles = ReturnType<typeof createIssuedFiles>

export interface IssuedFilesDeps {
  readonly prisma: PrismaClient
  readonly sql: Sql
  readonly storage: FileStorage
  readonly runtime: Pick<Runtime, 'now'>
}

export function createIssuedFiles({ prisma, sql, storage, runtime }: IssuedFilesDeps) {
  return {
    isIssued: (url: string): boolean => issuedAddress(storage, url) !== undefined,
    /**
     * The upload of this owner that an issued URL leads to.
     *
     * @throws Problem `upload_not_found` with the field if it is another owner's or not of the end user to whom the request is bound,
     * has expired or was deleted
     */
    async find({ ownerId, endUser }: FileOwner, url: string, field: FieldPath): Promise<Upload> {
      const address = issuedAddress(storage, url)
      const upload =
        address &&
        (await prisma.upload.findFirst({
          where: {
            ownerId,
            token: address.token,
            urlName: address.name,
            deletedAt: null,
            expiresAt: { gt: runtime.now() },
            ...(endUser !== undefined && { endUser }),
          },
        }))
      return upload ?? fail('upload_not_found', { field })
    },
    /** A URL of the file for a platform. */
    urlOf: (upload: Upload): Promise<string> => storage.urlOf(addressOf(upload), upload.expiresAt),
    /**
     * The content, which has as many bytes as the record says, or ends in an error.
     *
     * @throws Problem `unavailable`; errors while reading are for {@link problemOfRead}
     */
    async read(upload: Upload): Promise<Readable> {
      try {
        return ofLength(await storage.read(addressOf(upload)), Number(upload.size))
      } catch (error) {
        throw problemOfRead(error)
      }
    },
    /** The id under which a platform has the file already. */
    async findCopy({ id: uploadId }: Upload, holder: CopyHolder): Promise<string | undefined> {
      const [copy] = await sql.query<{ platform_file_id: string }>(
        `SELECT platform_file_id FROM upload_copies
         WHERE upload_id = $1::uuid AND agent = $2 AND credential = $3 AND end_user = $4`,
        [uploadId, holder.agent, holder.credential, holder.endUser],
      )
      return copy?.platform_file_id
    },
    async keepCopy(
      { id }: Upload,
      { agent, credential, endUser }: CopyHolder,
      platformFileId: string,
    ): Promise<void> {
      // The upload may have been deleted meanwhile. Of two calls that brought the file there, the later one's id is as good.
      await sql.query(
        `INSERT INTO upload_copies (upload_id, agent, credential, end_user, platform_file_id)
         SELECT id, $2, $3, $4, $5 FROM uploads WHERE id = $1::uuid
         ON CONFLICT (upload_id, agent, credential, end_user) DO UPDATE SET platform_file_id = excluded.platform_file_id`,
        [id, agent, credential, endUser, platformFileId],
      )
    },
    async forgetCopies(uploads: readonly Upload[], holder: CopyHolder): Promise<void> {
      await sql.query(
        `DELETE FROM upload_copies
         WHERE upload_id = ANY ($1::uuid[]) AND agent = $2 AND credential = $3 AND end_user = $4`,
        [uploads.map(({ id }) => id), holder.agent, holder.credential, holder.endUser],
      )
    },
  }
}

const URL_CHARACTERS_MAX = 8_192

function issuedAddress(storage: FileStorage, text: string): FileAddress | undefined {
  if (text.length > URL_CHARACTERS_MAX) return undefined
  const url = parseUrl(text)
  return url === null ? undefined : storage.addressOf(url)
}

/** Converts an error of reading a file, from the storage itself or from its stream. */
export function problemOfRead(error: unknown): unknown {
  if (error instanceof FileMissing) return new Problem('upload_not_found', { cause: error })
  if (!(error instanceof StorageError)) return error
  return new Problem('unavailable', {
    detail: 'A file could not be read from the storage.',
    limit: 'storage',
    retryAfterSeconds: 5,
    cause: error,
  })
}
