import type { Runtime } from '#core/base/runtime.ts'
import type { PrismaClient } from '#generated/prisma/client.ts'
import type { Sql } from './database.ts'

/**
 * The database's clock, for every time that one process writes and others read: times of rows, expiry of tokens, ids. The
 * clock of a machine may be wrong by days, and comparing times of different machines would then give wrong results.
 */
export type DatabaseClock = ReturnType<typeof createDatabaseClock>

const SYNC_EVERY_MS = 5_000

/**
 * The database's time, read for this one use: for times that others compare with that of their own statements, whatever has
 * happened to this process since its last {@link DatabaseClock.sync}.
 */
export async function databaseTime(prisma: Pick<PrismaClient, '$queryRaw'>): Promise<Date> {
  const [row] = await prisma.$queryRaw<{ now: Date }[]>`SELECT clock_timestamp() AS now`
  if (row === undefined) throw new Error('the database returned no time')
  return row.now
}

/** Computes the time as the last one read from the database plus the time elapsed since on the monotonic clock. */
export function createDatabaseClock(sql: Sql, system: Runtime) {
  /** The database's time minus the machine's elapsed time. */
  let offsetMs: number | undefined
  let timer: NodeJS.Timeout | undefined

  async function sync(): Promise<void> {
    const sentMs = system.elapsedMs()
    const [row] = await sql.query<{ ms: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
    )
    if (row === undefined) throw new Error('the database returned no time')
    // The database read its clock at some moment between request and response, so the offset lies between these bounds. A
    // known offset is only moved into them: a slow response has wide bounds and changes little.
    const [least, most] = [row.ms - system.elapsedMs(), row.ms - sentMs]
    offsetMs = offsetMs === undefined ? (least + most) / 2 : Math.min(most, Math.max(least, offsetMs))
  }

  function schedule(): void {
    const again = () => {
      if (timer !== undefined) schedule()
    }
    timer = setTimeout(() => {
      // If the database does not answer, the clock continues with the last offset.
      sync().then(again, again)
    }, SYNC_EVERY_MS)
    timer.unref()
  }

  const newId = createIdMaker(system)
  return {
    /** The given runtime with the database's time in place of the machine's, which it uses until the first {@link sync}. */
    runtime: {
      ...system,
      now: () => (offsetMs === undefined ? system.now() : new Date(offsetMs + system.elapsedMs())),
      newId: () => (offsetMs === undefined ? system.newId() : newId(offsetMs + system.elapsedMs())),
    },
    /** Reads the database's time. */
    sync,
    /** Repeats {@link sync}: clocks drift apart, and elapsed time does not include suspensions of the machine. */
    start(): void {
      if (timer === undefined) schedule()
    },
    stop(): void {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** How many ids one reading of random bytes is for. */
const IDS_AT_ONCE = 128
const RANDOM_BYTES = 10
const RANDOM_DIGITS = 2 * RANDOM_BYTES

/**
 * Returns a function that creates UUIDs of version 7 (RFC 9562) of a given time. Lists, turns of a conversation and ranges of
 * the ledger are ordered by them across all processes.
 *
 * Every call needs two or three of them. Node's own function takes the machine's clock, and to replace the time in its
 * result costs three times what it costs to write the whole text.
 */
export function createIdMaker({ randomBytes }: Pick<Runtime, 'randomBytes'>): (ms: number) => string {
  /** The version, the variant and the random bits of the next ids, in hex. */
  let digits = ''
  let at = 0
  let prefixMs = Number.NaN
  let prefix = ''
  return (time) => {
    const ms = Math.floor(time)
    if (ms !== prefixMs) {
      const hex = ms.toString(16).padStart(12, '0')
      prefix = `${hex.slice(0, 8)}-${hex.slice(8)}-`
      prefixMs = ms
    }
    at += RANDOM_DIGITS
    if (at >= digits.length) {
      digits = randomDigits(randomBytes(IDS_AT_ONCE * RANDOM_BYTES))
      at = 0
    }
    return `${prefix}${digits.slice(at, at + 4)}-${digits.slice(at + 4, at + 8)}-${digits.slice(at + 8, at + 20)}`
  }
}

function randomDigits(bytes: Buffer): string {
  for (let at = 0; at < bytes.length; at += RANDOM_BYTES) {
    bytes.writeUInt8(0x70 | (bytes.readUInt8(at) & 0x0f), at)
    bytes.writeUInt8(0x80 | (bytes.readUInt8(at + 2) & 0x3f), at + 2)
  }
  return bytes.toString('hex')
}
