import { pipeline, type Readable, Transform } from 'node:stream'
import { StorageError } from './storage.ts'

/** Passes a stream on that must have so many bytes; another length is an error, before a byte too many is passed on. */
export function ofLength(source: Readable, bytes: number): Readable {
  let left = bytes
  const passed = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length
      if (left < 0) done(wrongLength(bytes))
      else done(null, chunk)
    },
    flush: (done) => done(left > 0 ? wrongLength(bytes) : null),
  })
  // An error of either destroys the other one, and the reader of the result gets it.
  pipeline(source, passed, () => undefined)
  return passed
}

export const wrongLength = (bytes: number | bigint) =>
  new StorageError(`The storage has a file with another length than the ${bytes} bytes of its record.`)
