import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'

/** Where the bytes of the log go. Neither method waits for a reader. */
export interface LogSink {
  /** Returns or resolves with the number of bytes that were taken. Throws or rejects with `EAGAIN` where there is no room. */
  write(bytes: Buffer): number | Promise<number>
  writeSync(bytes: Buffer): number
  /** Longer writes may be torn apart by those of other processes. */
  readonly chunkBytesMax: number
}

/** The kernel writes up to so many bytes into a pipe whole or not at all (`PIPE_BUF`), however many processes share it. */
const ATOMIC_BYTES = 4_096

/** Standard output, so that writing to it never blocks the event loop, whatever it is. */
export function stdoutSink(): LogSink {
  const stats = fstatSync(1)
  if (stats.isFile()) return fileSink(1)
  const fd = openNonBlocking(1)
  if (fd !== undefined) return nonBlockingSink(fd)
  // What cannot be opened again, such as a socket, or a pipe of another user, becomes non-blocking when Node opens it.
  if (stats.isFIFO() || stats.isSocket()) {
    void process.stdout
    return nonBlockingSink(1)
  }
  return fileSink(1)
}

/**
 * The same pipe or terminal, opened anew: non-blocking is a property of the open file, and the one that was inherited is
 * shared with the processes before and beside this one, which may set or clear it at any time.
 */
function openNonBlocking(fd: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return undefined
  }
}

function nonBlockingSink(fd: number): LogSink {
  const writeNow = (bytes: Buffer) => writeSync(fd, bytes)
  return { write: writeNow, writeSync: writeNow, chunkBytesMax: ATOMIC_BYTES }
}

/** Files cannot be non-blocking: a disk that hangs holds one thread of the pool, and not the event loop. */
function fileSink(fd: number): LogSink {
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        write(fd, bytes, (error, written) => (error === null ? resolve(written) : reject(error)))
      }),
    writeSync: (bytes) => writeSync(fd, bytes),
    chunkBytesMax: 16 * ATOMIC_BYTES,
  }
}
