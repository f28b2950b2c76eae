import { readFileSync } from 'node:fs'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ACCEPTED_UPLOADS } from '#config/settings.ts'
import { Problem } from '#core/base/errors/errors.ts'
import { createTypeCheck, SAMPLE_BYTES } from './file-type.ts'

const numRuns = process.env.SOAK ? 10_000 : 200
const check = createTypeCheck(ACCEPTED_UPLOADS)

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const EXCEL = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const POWERPOINT = 'application/vnd.openxmlformats-officedocument.presentationml.presentation'

const FIXTURES = [
  ['docx-js.docx', WORD, 'docx'],
  ['libreoffice.docx', WORD, 'docx'],
  ['exceljs.xlsx', EXCEL, 'xlsx'],
  ['libreoffice.xlsx', EXCEL, 'xlsx'],
  ['openpyxl.xlsx', EXCEL, 'xlsx'],
  ['xlsxwriter.xlsx', EXCEL, 'xlsx'],
  ['libreoffice.pptx', POWERPOINT, 'pptx'],
  ['officegen.pptx', POWERPOINT, 'pptx'],
  ['libreoffice.odt', 'application/vnd.oasis.opendocument.text', 'odt'],
  ['sheetjs.ods', 'application/vnd.oasis.opendocument.spreadsheet', 'ods'],
  ['libreoffice.doc', 'application/msword', 'doc'],
  ['sheetjs.xls', 'application/vnd.ms-excel', 'xls'],
  ['reportlab.pdf', 'application/pdf', 'pdf'],
  ['pillow.png', 'image/png', 'png'],
  ['pillow-animated.png', 'image/png', 'png'],
  ['pillow.jpg', 'image/jpeg', 'jpg'],
  ['pillow.gif', 'image/gif', 'gif'],
  ['pillow.webp', 'image/webp', 'webp'],
  ['pillow.avif', 'image/avif', 'avif'],
  ['pillow.bmp', 'image/bmp', 'bmp'],
  ['pillow.tif', 'image/tiff', 'tif'],
  ['ffmpeg.mp3', 'audio/mpeg', 'mp3'],
  ['ffmpeg-bare.mp3', 'audio/mpeg', 'mp3'],
  ['ffmpeg.wav', 'audio/wav', 'wav'],
  ['ffmpeg.m4a', 'audio/mp4', 'm4a'],
  ['ffmpeg.ogg', 'audio/ogg', 'ogg'],
  ['ffmpeg.opus', 'audio/ogg', 'ogg'],
  ['ffmpeg.mp4', 'video/mp4', 'mp4'],
  ['ffmpeg.mov', 'video/quicktime', 'mov'],
  ['ffmpeg.webm', 'video/webm', 'webm'],
  ['ffmpeg.mkv', 'video/matroska', 'mkv'],
  ['ffmpeg.mpg', 'video/mpeg', 'mpg'],
] as const

const BROWSERS_SHOW = /^(?:image\/(?!tiff)|audio\/|video\/)/

test.each(FIXTURES)('the file %s has the type %s', async (name, mediaType, extension) => {
  const type = await check(fixture(name), name)
  expect(type).toStrictEqual({ mediaType, extension, isAttachment: !BROWSERS_SHOW.test(mediaType) })
})

test('a name does not change what a file is', async () => {
  expect(await check(fixture('pillow.png'), 'notes.txt')).toMatchObject({
    mediaType: 'image/png',
    extension: 'png',
  })
  expect(await check(fixture('reportlab.pdf'), 'a.docx')).toMatchObject({ mediaType: 'application/pdf' })
  expect(await check(bytes('<html><script>alert(1)</script>'), 'a.png')).toMatchObject({
    mediaType: 'text/plain; charset=utf-8',
    extension: 'txt',
    isAttachment: false,
  })
})

test.each([
  '<!doctype html><script>alert(1)</script>',
  '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
  '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>',
  '\ufeff<?xml version="1.0"?><x/>',
])('the document %s is plain text, even where every type is accepted', async (markup) => {
  const lenient = createTypeCheck(['*/*', 'image/*', 'text/*', 'application/*', 'image/svg+xml', 'text/html'])
  for (const name of ['a.svg', 'a.html', 'a.xml', 'a']) {
    expect(await lenient(bytes(markup), name)).toMatchObject({
      mediaType: 'text/plain; charset=utf-8',
      extension: 'txt',
    })
  }
})

test.each([
  ['a.csv', 'text/csv; charset=utf-8', 'csv'],
  ['A.CSV', 'text/csv; charset=utf-8', 'csv'],
  ['a.md', 'text/markdown; charset=utf-8', 'md'],
  ['a.markdown', 'text/markdown; charset=utf-8', 'md'],
  ['a.json', 'application/json', 'json'],
  ['a.txt', 'text/plain; charset=utf-8', 'txt'],
  ['a.log', 'text/plain; charset=utf-8', 'txt'],
  ['a.py', 'text/plain; charset=utf-8', 'txt'],
  ['a.yaml', 'text/plain; charset=utf-8', 'txt'],
  ['a.ics', 'text/plain; charset=utf-8', 'txt'],
  ['a', 'text/plain; charset=utf-8', 'txt'],
])('a text that is named %s has the type %s', async (name, mediaType, extension) => {
  const type = await check(bytes('{"a": 1}\n'), name)
  expect(type).toMatchObject({ mediaType, extension, isAttachment: extension !== 'txt' })
})

test('text is what is accepted of it', async () => {
  const text = bytes('a,b\n1,2\n')
  expect(await createTypeCheck(['text/plain'])(text, 'a.csv')).toMatchObject({ extension: 'txt' })
  expect(await createTypeCheck(['text/csv'])(text, 'a.csv')).toMatchObject({ extension: 'csv' })
  expect(await createTypeCheck(['text/*'])(text, 'a.ics')).toMatchObject({ extension: 'ics' })
  await expect(createTypeCheck(['text/csv'])(text, 'a.txt')).rejects.toThrow(Problem)
  await expect(createTypeCheck(['image/*'])(text, 'a.csv')).rejects.toMatchObject({
    reason: 'file_type_not_accepted',
    status: 415,
    detail: 'file: expected image/*; found text.',
  })
})

test.each(['BM,Umsatz\n', 'MZ;1\n', 'GIF89a\n', 'FORM\n', 'Tax free\n', 'solid \n', 'ID3 tags\n', 'PK\n'])(
  'text that begins like a binary type is text: %j',
  async (text) => {
    expect(await check(bytes(text), 'a.csv')).toMatchObject({ extension: 'csv' })
  },
)

test('documents that are written as text are documents', async () => {
  expect(await check(bytes('%PDF-1.4\n1 0 obj\n<<>>\nendobj\n'), 'a.txt')).toMatchObject({ extension: 'pdf' })
  const rtf = fixture('libreoffice.rtf')
  expect((await problemOf(check(rtf, 'a.rtf'))).detail).toContain('found application/rtf.')
  expect(await createTypeCheck(['text/rtf'])(rtf, 'a.rtf')).toMatchObject({ mediaType: 'application/rtf' })
})

test.each([
  ['an ELF binary', bytes('\x7fELF\x02\x01\x01\0\0\0\0\0'), 'application/x-elf'],
  ['a Windows program', bytes('MZ\x90\0\x03\0\0\0'), 'application/x-msdownload'],
  ['a ZIP file', zipOf({ 'a.txt': 'a' }), 'application/zip'],
  ['a ZIP file with a document in it', zipOf({ 'a.docx': fixture('docx-js.docx') }), 'application/zip'],
  ['a Java archive', zipOf({ 'META-INF/MANIFEST.MF': '' }), 'application/java-archive'],
  ['a binary workbook', fixture('sheetjs.xlsb'), 'application/vnd.ms-excel.sheet.binary.macroenabled.12'],
  ['gzip', gzipSync('a'), 'application/gzip'],
  ['a compressed drawing', gzipSync('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'application/gzip'],
  [
    'a PDF after something else',
    Buffer.concat([bytes('\0\0'), fixture('reportlab.pdf')]),
    'a file of no known type',
  ],
  ['bytes', Uint8Array.of(1, 2, 3, 4), 'a file of no known type'],
  ['a single byte', Uint8Array.of(0), 'a file of no known type'],
])('a file that is %s is refused under every name', async (_, content, found) => {
  for (const name of ['a.txt', 'a.png', 'a.pdf', 'a']) {
    const refused = await problemOf(check(content, name))
    expect(refused).toMatchObject({ reason: 'file_type_not_accepted', field: ['file'] })
    expect(refused.detail).toContain(`expected image/*, audio/*,`)
    expect(refused.detail).toMatch(new RegExp(`found ${found.replaceAll('.', '\\.')}\\.$`))
  }
})

test('of compound files only those named as Office documents are accepted', async () => {
  const content = fixture('libreoffice.doc')
  expect(await check(content, 'A.PPT')).toMatchObject({ mediaType: 'application/vnd.ms-powerpoint' })
  for (const name of ['a.msi', 'a.docx', 'doc', 'a.doc.exe']) {
    await expect(check(content, name)).rejects.toThrow(Problem)
    expect((await problemOf(check(content, name))).detail).toContain('only as .doc, .xls or .ppt')
  }
})

test.each([
  ['word/document.xml', 'docx'],
  ['xl/workbook.xml', 'xlsx'],
  ['ppt/presentation.xml', 'pptx'],
])('a package with %s is %s if its content types are unreadable', async (name, extension) => {
  for (const hasDescriptors of [false, true]) {
    const entries = {
      '[Content_Types].xml': "<Types ContentType='x'/>",
      'media.bin': 'PK\x03\x04'.repeat(9),
      [name]: 'x',
    }
    expect(await check(zipOf(entries, hasDescriptors), 'a')).toMatchObject({ extension })
  }
})

test('macros are seen where the content types are unreadable', async () => {
  const content = zipOf({ '[Content_Types].xml': '', 'word/document.xml': '', 'word/vbaProject.bin': '' })
  await expect(check(content, 'a.docx')).rejects.toThrow(Problem)
})

test('what docs/uploads.md says of macros: a package counts as what its list of contents says, whatever else is in it', async () => {
  const types = (main: string) =>
    `<?xml version="1.0"?><Types><Override PartName="/word/document.xml" ContentType="${main}"/></Types>`
  const withMacros = (main: string) =>
    zipOf({ '[Content_Types].xml': types(main), 'word/document.xml': '', 'word/vbaProject.bin': 'x' })
  const declared = withMacros('application/vnd.ms-word.document.macroEnabled.main+xml')
  expect((await problemOf(check(declared, 'a.docx'))).detail).toContain('macroenabled')
  const silent = withMacros(
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml',
  )
  expect(await check(silent, 'a.docx')).toMatchObject({ extension: 'docx' })
  expect(await check(fixture('libreoffice.doc'), 'a.doc')).toMatchObject({ extension: 'doc' })
})

test.each(FIXTURES.filter(([name]) => /\.(?:docx|xlsx|pptx|od.)$/.test(name)))(
  'the document %s is recognized by its beginning',
  async (name, mediaType) => {
    const content = fixture(name)
    const half = content.subarray(0, content.length / 2)
    expect(await check(half, 'a')).toMatchObject({ mediaType })
  },
)

test('a TIFF is recognized although its directory comes after the sample', async () => {
  const content = Buffer.concat([
    Buffer.from('II*\0'),
    Buffer.from([0, 0, 0, 1]),
    Buffer.alloc(SAMPLE_BYTES - 8),
  ])
  expect(await check(content, 'scan.tif')).toMatchObject({ mediaType: 'image/tiff', extension: 'tif' })
})

test('a gzip file is not decompressed to find out what is in it', async () => {
  const archive = Buffer.alloc(1_024)
  archive.write('ustar', 257)
  const type = await createTypeCheck(['application/x-gzip'])(gzipSync(archive), 'a.tar.gz')
  expect(type).toMatchObject({ mediaType: 'application/gzip', extension: 'gz' })
})

test.each([
  ['audio/x-wav', 'ffmpeg.wav'],
  ['audio/vnd.wave', 'ffmpeg.wav'],
  ['audio/x-m4a', 'ffmpeg.m4a'],
  ['audio/mp3', 'ffmpeg.mp3'],
  ['audio/opus', 'ffmpeg.opus'],
  ['image/jpg', 'pillow.jpg'],
  ['image/png', 'pillow-animated.png'],
  ['image/x-ms-bmp', 'pillow.bmp'],
  ['video/x-matroska', 'ffmpeg.mkv'],
  ['video/mpeg', 'ffmpeg.mpg'],
])('a list of accepted types with %s accepts %s', async (listed, name) => {
  await createTypeCheck([listed])(fixture(name), name)
  await expect(createTypeCheck(['image/tiff'])(fixture(name), name)).rejects.toThrow(Problem)
})

test('damaged files are accepted or refused, but never fail', async () => {
  const contents = FIXTURES.map(([name]) => fixture(name))
  const damage = fc.record({
    content: fc.constantFrom(...contents),
    end: fc.nat(20_000),
    changes: fc.array(fc.tuple(fc.nat(2_000), fc.nat(255)), { maxLength: 8 }),
  })
  await fc.assert(
    fc.asyncProperty(damage, async ({ content, end, changes }) => {
      const damaged = Buffer.from(content.subarray(0, end + 1))
      for (const [at, byte] of changes) damaged[at % damaged.length] = byte
      await check(damaged, 'a.doc').catch((error: unknown) => expect(error).toBeInstanceOf(Problem))
    }),
    { numRuns },
  )
})

function fixture(name: string): Buffer {
  return readFileSync(new URL(`./fixtures/${name}`, import.meta.url))
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text, /[\x80-\xff]/.test(text) ? 'latin1' : 'utf8')
}

async function problemOf(checked: Promise<unknown>): Promise<Problem> {
  const error = await checked.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof Problem) return error
  throw new Error('The file was accepted.', { cause: error })
}

/** A ZIP file without a central directory, which nothing here reads; with the sizes after the data if requested. */
function zipOf(entries: Record<string, string | Buffer>, hasDescriptors = false): Buffer {
  const parts = Object.entries(entries).flatMap(([name, content]) => {
    const isPackage = typeof content !== 'string'
    const data = isPackage || name === 'media.bin' ? Buffer.from(content) : deflateRawSync(content)
    const sums = Buffer.alloc(12)
    sums.writeUInt32LE(crc32(content), 0)
    sums.writeUInt32LE(data.length, 4)
    sums.writeUInt32LE(Buffer.byteLength(content), 8)
    const header = Buffer.alloc(30)
    header.write('PK\x03\x04', 'latin1')
    header.writeUInt16LE(hasDescriptors ? 8 : 0, 6)
    header.writeUInt16LE(data.length === Buffer.byteLength(content) ? 0 : 8, 8)
    if (!hasDescriptors) sums.copy(header, 14)
    header.writeUInt16LE(name.length, 26)
    const descriptor = hasDescriptors ? [Buffer.from('PK\x07\x08', 'latin1'), sums] : []
    return [header, Buffer.from(name), data, ...descriptor]
  })
  return Buffer.concat(parts)
}
