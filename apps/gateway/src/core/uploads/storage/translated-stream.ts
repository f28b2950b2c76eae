import { finished, PassThrough, type Readable } from 'node:stream'

/**
 * Passes a stream on and translates its error. Destroying the result destroys the stream at once, even if nothing was read of
 * it: a generator in between would not do that before its first and during a pending read, and keep a descriptor or a
 * connection.
 */
export function translatedStream(source: Readable, translate: (error: unknown) => Error): Readable {
  const passed = new PassThrough()
  finished(source, (error) => {
    if (error) passed.destroy(translate(error))
  })
  passed.once('close', () => source.destroy())
  return source.pipe(passed)
}
