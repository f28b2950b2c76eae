import { constants, fstatSync, openSync, write, writeSync } from 'node:fs'

/** The destination of the log. Neither method waits for a reader. */
export interface LogSink {
  /** Returns or resolves with the number of bytes that were written. Throws or rejects with `EAGAIN` if there is no room. */
  write(bytes: Buffer): number | Promise<number>
  writeSync(bytes: Buffer): number
  /** The largest write that writes of other processes cannot split. */
  readonly chunkBytesMax: number
}

/** `PIPE_BUF`: the kernel writes up to this many bytes to a pipe in one piece, however many processes share it. */
const ATOMIC_BYTES = 4_096

/** Standard output as a sink that never blocks the event loop, be it a pipe, a terminal, a socket or a file. */
export function stdoutSink(): LogSink {
  const stats = fstatSync(1)
  if (stats.isFile()) return fileSink(1)
  const fd = openNonBlocking(1)
  if (fd !== undefined) return nonBlockingSink(fd)
  // A socket or the pipe of another user cannot be opened again, but becomes non-blocking when Node opens the stream.
  if (stats.isFIFO() || stats.isSocket()) {
    void process.stdout
    return nonBlockingSink(1)
  }
  return fileSink(1)
}

/**
 * Opens the same pipe or terminal again. Non-blocking is a property of the open file, and the inherited one is shared with
 * other processes, which may set or clear it at any time.
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

/** Files cannot be non-blocking, so they are written by the thread pool: a disk that hangs blocks one of its threads. */
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
