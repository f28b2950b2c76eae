import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import * as fs from 'node:fs/promises'
import { DeadlineError, withDeadline } from '#core/base/async/deadline.ts'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'

/** Why a file that is there cannot be read: in words, because the system has no code for it. */
export class UnreadableFile extends Error {}

/** A pipe is opened at once with this flag; without it, opening waits for somebody who writes to it. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK
const WITHIN_MS = 5_000

/** For tests. */
interface ReadOptions {
  readonly withinMs?: number
  readonly open?: (path: string, flags: number) => Promise<fs.FileHandle>
}

/** What is being read and has not answered in time. */
let stuck: string | undefined

/**
 * Reads a file that somebody else has put there, in UTF-8. The event loop goes on meanwhile, and a file system that does not answer,
 * such as one of a network, keeps nothing waiting for longer than five seconds.
 *
 * Nothing can end a call to such a file system. It keeps a thread of the pool, so another one is not begun, and the process would wait
 * for it at its end, so it is then killed instead.
 *
 * @throws UnreadableFile if it is no file, or its file system does not answer; the error of the system otherwise
 */
export async function readRegularFile(
  path: string,
  { withinMs = WITHIN_MS, open = fs.open }: ReadOptions = {},
): Promise<string> {
  if (stuck !== undefined) throw new UnreadableFile(`the file system of ${stuck} does not answer`)
  const reading = markRejectionHandled(readFrom(markRejectionHandled(open(path, FLAGS))))
  try {
    return await withDeadline(withinMs, reading)
  } catch (error) {
    if (!(error instanceof DeadlineError)) throw error
    leave(path, reading)
    throw new UnreadableFile('its file system does not answer', { cause: error })
  }
}

/**
 * The same where nothing may be awaited: a pipe is refused, and the event loop waits for the file system.
 *
 * @throws UnreadableFile if it is no file; the error of the system otherwise
 */
export function readRegularFileSync(path: string): string {
  const file = openSync(path, FLAGS)
  try {
    requireFile(fstatSync(file))
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

async function readFrom(opening: Promise<fs.FileHandle>): Promise<string> {
  const file = await opening
  try {
    requireFile(await file.stat())
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** Directories have an error of their own when they are read. */
function requireFile(stats: Stats): void {
  if (!stats.isFile() && !stats.isDirectory())
    throw new UnreadableFile('it is a pipe, a socket or a device, and not a file')
}

function leave(path: string, reading: Promise<unknown>): void {
  const kill = () => process.kill(process.pid, 'SIGKILL')
  const answered = () => {
    stuck = undefined
    process.off('exit', kill)
  }
  stuck = path
  process.once('exit', kill)
  reading.then(answered, answered)
}
