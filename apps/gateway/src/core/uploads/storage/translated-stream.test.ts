import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { translatedStream } from './translated-stream.ts'

const translate = (error: unknown) => new Error('translated', { cause: error })

test('a translated stream has the content of its source', async () => {
  const content = Buffer.alloc(1_000_000, 'report')
  const passed = translatedStream(Readable.from([content], { objectMode: false }), translate)
  expect(Buffer.from(await buffer(passed)).equals(content)).toBe(true)
})

test.each([
  ['an error', new Error('disk')],
  ['an end that comes too early', undefined],
])('a translated stream translates %s of its source', async (_what, error) => {
  const source = new PassThrough()
  const reading = buffer(translatedStream(source, translate))
  source.write('rep')
  source.destroy(error)
  await expect(reading).rejects.toMatchObject({
    message: 'translated',
    cause: error ?? { code: 'ERR_STREAM_PREMATURE_CLOSE' },
  })
})

test.each(['before anything was read', 'while a read is pending'])(
  'destroying a translated stream %s destroys its source',
  async (when) => {
    const source = new PassThrough()
    const passed = translatedStream(source, translate)
    if (when === 'while a read is pending') passed.on('data', () => undefined)
    passed.destroy()
    await once(source, 'close')
  },
)
