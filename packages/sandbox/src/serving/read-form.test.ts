import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { Refusal } from './answer.ts'
import { readForm } from './read-form.ts'

async function encode(form: FormData): Promise<{ bytes: Buffer; contentType: string }> {
  const response = new Response(form)
  return {
    bytes: Buffer.from(await response.arrayBuffer()),
    contentType: response.headers.get('content-type') ?? '',
  }
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

test('texts and files are read from pieces of any size', async () => {
  const form = new FormData()
  const contents = ['', '\r\n', 'a\r\n--', '\r\n------formdata-undici-0', '报告\r\n\r\n\0']
  for (const [index, content] of contents.entries())
    form.set(`f${index}`, new File([content], `"${index}"\r\n报告.txt`))
  form.set('user', '艾达\r\n"x"')
  const { bytes, contentType } = await encode(form)
  const expected = {
    ...Object.fromEntries(
      contents.map((content, index) => [
        `f${index}`,
        {
          filename: `"${index}"\r\n报告.txt`,
          contentType: 'application/octet-stream',
          size: Buffer.byteLength(content),
          sha256: createHash('sha256').update(content).digest('hex'),
        },
      ]),
    ),
    user: '艾达\r\n"x"',
  }
  for (let size = 1; size < 80; size += 1) {
    expect(await readForm(inPieces(bytes, size), contentType)).toEqual(expected)
  }
  expect(await readForm(inPieces(bytes, bytes.length), contentType)).toEqual(expected)
})

test('a large binary file has its size and hash', async () => {
  const content = randomBytes(3_000_000)
  const form = new FormData()
  form.set('file', new File([content], 'a.bin', { type: 'image/png' }))
  const { bytes, contentType } = await encode(form)
  expect(await readForm(inPieces(bytes, 65_536), contentType)).toEqual({
    file: {
      filename: 'a.bin',
      contentType: 'image/png',
      size: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    },
  })
})

test.each([
  ['no boundary', 'multipart/form-data', '--b--'],
  ['no end', 'multipart/form-data; boundary=b', '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx'],
  ['another boundary', 'multipart/form-data; boundary=b', '--c\r\n\r\n\r\n--c--'],
  ['endless headers', 'multipart/form-data; boundary=b', `--b\r\n${'x'.repeat(20_000)}`],
])('a form with %s is refused', async (_, contentType, body) => {
  const reading = readForm(inPieces(Buffer.from(body), 10_000), contentType)
  await expect(reading).rejects.toSatisfy((error) => error instanceof Refusal && error.answer.status === 400)
})

test('a quoted boundary, an epilogue and other headers are understood', async () => {
  const body =
    'preamble\r\n--a b\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; filename="n.txt"; name="file"\r\n\r\nx\r\n--a b--\r\nepilogue'
  expect(await readForm(inPieces(Buffer.from(body), 7), 'multipart/form-data; boundary="a b"')).toMatchObject(
    {
      file: { filename: 'n.txt', contentType: 'text/plain', size: 1 },
    },
  )
})
