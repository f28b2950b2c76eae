import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { v7 } from 'uuid'
import { openUserServices, type UserServices } from '#core/accounts/auth/users.test-support.ts'
import { systemRuntime } from '#core/base/runtime.ts'
import type { Principal } from '#core/requests/principal.ts'
import { createDiskStorage, type DiskStorage } from './storage/disk-storage.ts'
import { newToken } from './storage/file-address.ts'
import { INSTALLATION } from './storage/storage.test-support.ts'
import type { NewUpload } from './upload-rows.ts'

/** Users and keys on a scratch database, and a folder for their files. */
export interface UploadFixture extends UserServices {
  readonly storage: DiskStorage
  /** A new user, and the caller that presents a key of this user. */
  newUploader(): Promise<Uploader>
  /** Inserts rows of 10 bytes each in one statement, and counts them for their owner. */
  insertRows(uploader: Uploader, tokens: readonly string[], times?: RowTimes): Promise<void>
  /** Stores files of 10 bytes each, faster than the storage does. */
  insertFiles(tokens: readonly string[]): Promise<void>
  /** The sum of bytes that the owner's row has. */
  bytesOf(uploader: Uploader): Promise<number>
  close(): Promise<void>
}

export interface Uploader {
  readonly owner: Principal
  readonly keyId: string
  readonly fullKey: string
  readonly caller: Principal
}

/** In days from now. */
interface RowTimes {
  readonly created?: number
  readonly expires?: number
  readonly deleted?: number
}

export const ROW_BYTES = 10

export async function openUploadFixture(serverUrl?: string): Promise<UploadFixture> {
  const services = await openUserServices(serverUrl)
  const { sql } = services.database
  const folder = await mkdtemp(join(tmpdir(), 'trunkline-uploads-'))
  const publicUrl = () => 'https://gateway.example'
  const storage = createDiskStorage({ folder, publicUrl, runtime: services.runtime })
  await storage.prepare()
  return {
    ...services,
    storage,
    async newUploader() {
      const owner = await services.join('premium')
      const { id, fullKey, caller } = await services.keyOf(owner, { permissions: ['upload'] })
      return { owner, keyId: id, fullKey, caller }
    },
    async insertRows({ owner, keyId }, tokens, { created = 0, expires = 1, deleted } = {}) {
      await sql.query(
        `INSERT INTO uploads (id, call_id, token, url_name, filename, media_type, size, sha256, owner_id, key_id, created_by, created_at, expires_at, deleted_at)
         SELECT gen_random_uuid(), gen_random_uuid(), token, 'a.txt', 'a.txt', 'text/plain', $2, '', $3, $4, 'test',
           now() + $5 * interval '1 day', now() + $6 * interval '1 day', now() + $7 * interval '1 day'
         FROM json_array_elements_text($1) AS token`,
        [JSON.stringify(tokens), ROW_BYTES, owner.userId, keyId, created, expires, deleted ?? null],
      )
      await sql.query('UPDATE users SET upload_bytes = upload_bytes + $1 WHERE id = $2', [
        tokens.length * ROW_BYTES,
        owner.userId,
      ])
    },
    async insertFiles(tokens) {
      for (const token of tokens) {
        const path = storage.pathOf({ token, name: 'a.txt' })
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, 'a'.repeat(ROW_BYTES))
        // The disk has the machine's clock, and the sweep that of the test, which `pnpm test:flakes` moves.
        await utimes(path, new Date(), new Date())
      }
    },
    async bytesOf({ owner }) {
      const { uploadBytes } = await services.database.prisma.user.findUniqueOrThrow({
        where: { id: owner.userId },
      })
      return Number(uploadBytes)
    },
    async close() {
      await services.database.close()
      await rm(folder, { recursive: true })
    },
  }
}

export function newTokens(count: number): string[] {
  return Array.from({ length: count }, () => newToken(systemRuntime, INSTALLATION))
}

/** An upload of this key, as it is recorded after its file was stored. */
export function newUpload({ owner, keyId }: Uploader, more: Partial<NewUpload> = {}): NewUpload {
  const [token = ''] = newTokens(1)
  return {
    id: v7(),
    callId: v7(),
    token,
    urlName: 'a.txt',
    filename: 'a.txt',
    mediaType: 'text/plain',
    size: BigInt(ROW_BYTES),
    sha256: '',
    ownerId: owner.userId,
    keyId,
    agent: '',
    createdBy: 'test',
    endUser: '',
    ...more,
  }
}
