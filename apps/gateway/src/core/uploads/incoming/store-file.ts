import type { Runtime } from '#core/base/runtime.ts'
import type { Sql } from '#core/database/database.ts'
import { shownName, urlName } from '#core/uploads/content/file-name.ts'
import { type CheckType, SAMPLE_BYTES } from '#core/uploads/content/file-type.ts'
import { newToken } from '#core/uploads/storage/file-address.ts'
import type { FileStorage, NewFile } from '#core/uploads/storage/storage.ts'
import { type NewUpload, spaceDetail, spaceLeft, type UploadBounds } from '#core/uploads/upload-rows.ts'
import type { IncomingFile, SizeBound } from './incoming-file.ts'

export interface StoreDeps {
  readonly sql: Sql
  readonly storage: FileStorage
  readonly runtime: Runtime
  readonly checkType: CheckType
  /** What the tokens of this installation begin with. */
  installation(): string
  readonly bounds: UploadBounds & { readonly maxBytes: number }
}

/** What a file is, once it is in the storage. Its record also says whose it is. */
export type StoredContent = Pick<
  NewUpload,
  'id' | 'token' | 'urlName' | 'filename' | 'mediaType' | 'size' | 'sha256'
>

export interface FileToStore {
  /** As its sender wrote it. */
  readonly filename: string | undefined
  readonly ownerId: string
  /** Writes the file to the storage, within the times of whoever receives it. */
  write(file: NewFile, content: AsyncIterable<Uint8Array>): Promise<void>
}

/**
 * Stores a file of which the first byte has arrived: its type is decided by its first bytes, then the whole content goes to the
 * storage. Afterwards it has no record yet.
 *
 * @throws Problem `file_type_not_accepted`, `body_too_large`, `upload_space_used_up`, and what `write` throws
 */
export async function storeFile(
  deps: StoreDeps,
  file: IncomingFile,
  { filename: raw, ownerId, write }: FileToStore,
): Promise<StoredContent> {
  const { runtime, checkType } = deps
  const filename = shownName(raw)
  const type = await checkType(await file.sample(SAMPLE_BYTES), filename)
  const { mediaType, isAttachment } = type
  const address = { token: newToken(runtime, deps.installation()), name: urlName(filename, type.extension) }
  const content = file.content(await sizeBound(deps, ownerId), type.text)
  await write({ ...address, mediaType, isAttachment }, content)
  return {
    id: runtime.newId(),
    token: address.token,
    urlName: address.name,
    filename,
    mediaType,
    size: BigInt(file.bytes),
    sha256: file.sha256(),
  }
}

async function sizeBound(
  { sql, bounds }: Pick<StoreDeps, 'sql' | 'bounds'>,
  ownerId: string,
): Promise<SizeBound> {
  const left = await spaceLeft(sql, ownerId, bounds)
  return left < bounds.maxBytes
    ? { bytes: left, reason: 'upload_space_used_up', detail: spaceDetail(bounds.bytesPerOwnerMax) }
    : {
        bytes: bounds.maxBytes,
        reason: 'body_too_large',
        detail: `expected at most ${bounds.maxBytes} bytes.`,
      }
}

/** Removes a file that gets no record. If this fails, the sweep finds a file without a record. */
export async function removeStored(
  { storage }: Pick<StoreDeps, 'storage'>,
  { token, urlName: name }: Pick<StoredContent, 'token' | 'urlName'>,
): Promise<void> {
  await storage.remove([{ token, name }]).catch(() => undefined)
}
