import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto'
import { promisify } from 'node:util'
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync, type ZlibOptions } from 'node:zlib'
import type { SecretKeys } from '#core/accounts/auth/stored-secrets.ts'
import { createEventLoopYield } from '#core/base/async/event-loop-yield.ts'
import type { Runtime } from '#core/base/runtime.ts'

/**
 * The bytes in which texts of replies are stored: compressed, and encrypted where there is a `SECRET_KEY`.
 *
 * A format byte is followed by the text or, if it is encrypted, by 4 bytes that tell its key, the 12 bytes of the nonce, the
 * number of its first block and the text.
 *
 * AES-256-CTR encrypts all texts of a flush with one cipher, because creating one for each row costs several times what the log
 * costs. Each text begins with a block, so that it can be decrypted alone. There is no authentication: the encryption protects
 * from those who can read the database or its backups, and not from those who can write to it.
 */
export type PartCodec = ReturnType<typeof createPartCodec>

/** The bits of the format byte. */
const ENCRYPTED = 1
const UNCOMPRESSED = 2
const FORMATS = ENCRYPTED | UNCOMPRESSED

const CHECK_BYTES = 4
const NONCE_BYTES = 12
const COUNTER_BYTES = 4
const BLOCK_BYTES = 16
const CHECK_AT = 1
const NONCE_AT = CHECK_AT + CHECK_BYTES
const COUNTER_AT = NONCE_AT + NONCE_BYTES
const ENCRYPTED_AT = COUNTER_AT + COUNTER_BYTES

/** Compressing a shorter text costs more than storing it as it is. */
const COMPRESSED_FROM_BYTES = 256
/** What is longer is compressed in another thread. */
const SYNC_BYTES_MAX = 64 * 1024
/**
 * For the texts of one flush of one call, some 1 kB. Setting up is most of the work, so the window is small. The result keeps the
 * whole of its last chunk in memory until the flush is written; with chunks of zlib's default size, 16 KiB, that and the
 * collection of garbage double what the log costs the process.
 */
const SMALL: ZlibOptions = { level: 1, windowBits: 11, memLevel: 3, chunkSize: 2_048 }
const SMALL_READ: ZlibOptions = { chunkSize: 4_096 }
const LARGE: ZlibOptions = { level: 1 }

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

/** A key for replies, derived from a `SECRET_KEY`, and the bytes by which the rows of it are recognized. */
interface ReplyKey {
  readonly key: Buffer
  readonly check: Buffer
}

/** What follows the format byte and the fields of the encryption. */
interface Body {
  readonly format: number
  readonly bytes: Buffer
}

export function createPartCodec(
  { secretKey, secretKeyPrevious }: SecretKeys,
  { randomBytes }: Pick<Runtime, 'randomBytes'>,
) {
  const current = replyKeyOf(secretKey)
  const previous = replyKeyOf(secretKeyPrevious)
  const keys = [current, previous].filter((key) => key !== undefined)

  return {
    async seal(texts: readonly string[]): Promise<readonly Buffer[]> {
      const pause = createEventLoopYield()
      const bodies: Body[] = []
      for (const text of texts) {
        const bytes = Buffer.from(text)
        bodies.push(
          bytes.length > SYNC_BYTES_MAX
            ? { format: 0, bytes: await deflate(bytes, LARGE) }
            : smallBody(bytes),
        )
        await pause()
      }
      return current === undefined ? bodies.map(plain) : encrypt(bodies, current, randomBytes(NONCE_BYTES))
    },
    /** Undefined if the bytes were encrypted with a key that is not known any more, or are damaged. */
    async open(stored: Uint8Array): Promise<string | undefined> {
      const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
      const format = bytes[0] ?? FORMATS + 1
      if (format > FORMATS) return undefined
      const body = format & ENCRYPTED ? decrypt(bytes, keys) : bytes.subarray(1)
      if (body === undefined) return undefined
      if (format & UNCOMPRESSED) return body.toString()
      try {
        const isSmall = body.length <= SYNC_BYTES_MAX
        return (isSmall ? inflateRawSync(body, SMALL_READ) : await inflate(body)).toString()
      } catch {
        // A damaged row is treated like a missing one.
        return undefined
      }
    },
  }
}

function replyKeyOf(secretKey: string | undefined): ReplyKey | undefined {
  if (secretKey === undefined) return undefined
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', 'trunkline kept replies', 32))
  return { key, check: hash('sha256', key, 'buffer').subarray(0, CHECK_BYTES) }
}

function smallBody(bytes: Buffer): Body {
  if (bytes.length < COMPRESSED_FROM_BYTES) return { format: UNCOMPRESSED, bytes }
  return { format: 0, bytes: deflateRawSync(bytes, SMALL) }
}

function plain({ format, bytes }: Body): Buffer {
  const row = Buffer.allocUnsafe(1 + bytes.length)
  row[0] = format
  row.set(bytes, 1)
  return row
}

function encrypt(bodies: readonly Body[], { key, check }: ReplyKey, nonce: Buffer): Buffer[] {
  const blocksOf = ({ bytes }: Body) => Math.ceil(bytes.length / BLOCK_BYTES)
  const all = Buffer.alloc(bodies.reduce((blocks, body) => blocks + blocksOf(body), 0) * BLOCK_BYTES)
  let block = 0
  for (const body of bodies) {
    all.set(body.bytes, block * BLOCK_BYTES)
    block += blocksOf(body)
  }
  const encrypted = createCipheriv('aes-256-ctr', key, counterBlock(nonce, 0)).update(all)
  block = 0
  return bodies.map((body) => {
    const { length } = body.bytes
    const row = Buffer.allocUnsafe(ENCRYPTED_AT + length)
    row[0] = body.format | ENCRYPTED
    row.set(check, CHECK_AT)
    row.set(nonce, NONCE_AT)
    row.writeUInt32BE(block, COUNTER_AT)
    const start = block * BLOCK_BYTES
    row.set(encrypted.subarray(start, start + length), ENCRYPTED_AT)
    block += blocksOf(body)
    return row
  })
}

/** Undefined if none of the keys has encrypted it. */
function decrypt(row: Buffer, keys: readonly ReplyKey[]): Buffer | undefined {
  if (row.length < ENCRYPTED_AT) return undefined
  const check = row.subarray(CHECK_AT, NONCE_AT)
  const used = keys.find((key) => key.check.equals(check))
  if (used === undefined) return undefined
  const start = counterBlock(row.subarray(NONCE_AT, COUNTER_AT), row.readUInt32BE(COUNTER_AT))
  return createDecipheriv('aes-256-ctr', used.key, start).update(row.subarray(ENCRYPTED_AT))
}

/** The first block of a keystream: the nonce, and a counter that the cipher goes on with. */
function counterBlock(nonce: Buffer, counter: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES)
  block.set(nonce)
  block.writeUInt32BE(counter, NONCE_BYTES)
  return block
}
