import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shownName, urlName } from './file-name.ts'

const numRuns = process.env.SOAK ? 100_000 : 1_000

test.each([
  [undefined, 'file'],
  ['', 'file'],
  ['report.pdf', 'report.pdf'],
  ['Quarterly report (final) #2 & 50%.pdf', 'Quarterly report (final) #2 & 50%.pdf'],
  ['季度报告.pdf', '季度报告.pdf'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\me\\a.txt', 'a.txt'],
  ['a/b\\', 'file'],
  ['..', 'file'],
  [' .hidden. ', 'hidden'],
  ['a\0b\r\nc.txt', 'abc.txt'],
  ['a<b>c:d"e|f?g*.txt', 'a_b_c_d_e_f_g_.txt'],
  ['exe.\u202egpj', 'exe.gpj'],
  ['\u2066a\u200e\u200f\u061c\u2069.txt', 'a.txt'],
  ['a\u200b\u00ad\ufeff\u3164\u{e0041}.txt', 'a.txt'],
  ['e\u0301.txt', '\u00e9.txt'],
  ['e\u200b\u0301.txt', '\u00e9.txt'],
  ['\ud800.txt', '\ufffd.txt'],
  ['می\u200cخواهم.txt', 'می\u200cخواهم.txt'],
  ['👩\u200d👧.png', '👩\u200d👧.png'],
  ['a.e\u200dxe', 'a.exe'],
  ['con', '_con'],
  ['NUL.txt', '_NUL.txt'],
  ['Com1 .tar.gz', '_Com1 .tar.gz'],
  ['console.txt', 'console.txt'],
])('a file that is named %j is shown as %j', (raw, shown) => {
  expect(shownName(raw)).toBe(shown)
})

test('a long name is cut at a character and keeps its extension', () => {
  expect(shownName(`${'a'.repeat(300)}.docx`)).toBe(`${'a'.repeat(250)}.docx`)
  expect(shownName(`${'报'.repeat(100)}.docx`)).toBe(`${'报'.repeat(83)}.docx`)
  expect(shownName(`${'😀'.repeat(100)}.docx`)).toBe(`${'😀'.repeat(62)}.docx`)
  expect(shownName(`a.${'b'.repeat(300)}`)).toBe(`a.${'b'.repeat(253)}`)
  expect(shownName(`con${' '.repeat(300)}x.txt`)).toBe('_con.txt')
  const spaces = ' '.repeat(5_000_000)
  expect(shownName(`${spaces}.pdf`)).toBe('pdf')
  expect(shownName(`a${spaces}b.pdf${spaces}`)).toBe('a')
  expect(shownName(`a${spaces}b.pdf`)).toBe('a.pdf')
})

test.each([
  ['photo.jpg', 'jpg', 'photo.jpg'],
  ['PHOTO.JPEG', 'jpg', 'PHOTO.JPEG'],
  ['scan.tiff', 'tif', 'scan.tiff'],
  ['voice.opus', 'ogg', 'voice.opus.ogg'],
  ['image.jfif', 'jpg', 'image.jfif.jpg'],
  ['a.tar.gz', 'gz', 'a.tar.gz'],
  ['page.html', 'txt', 'page.html.txt'],
  ['notes.markdown', 'md', 'notes.markdown.md'],
  ['notes', 'md', 'notes.md'],
  ['pdf', 'pdf', 'pdf.pdf'],
  ['a.png', 'jpg', 'a.png.jpg'],
])('a file named %s of type %s has the name %s in its URL', (shown, extension, name) => {
  expect(urlName(shown, extension)).toBe(name)
})

test('a long URL name ends in the extension', () => {
  expect(urlName(shownName(`${'a'.repeat(300)}.txt`), 'csv')).toBe(`${'a'.repeat(251)}.csv`)
})

/** Long, hostile and ordinary names: any UTF-16, and characters with a meaning here more often than by chance. */
const anyName = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.uint16Array({ maxLength: 20 }).map((units) => String.fromCharCode(...units)),
      fc.constantFrom(...'./\\ :con.txt\u200c\u200d\u202e\u0301é报😀'),
      fc.constantFrom('con', 'LPT1', '.pdf', 'a'.repeat(250), '报'.repeat(80), ' '.repeat(260)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

test('every name that is sent becomes a name that every system can store and that is what it seems', () => {
  fc.assert(
    fc.property(anyName, (raw) => {
      const shown = shownName(raw)
      expectRules(shown)
      expect(shownName(shown)).toBe(shown)
    }),
    { numRuns },
  )
})

test('every URL name keeps the rules of names and ends in the extension', () => {
  fc.assert(
    fc.property(anyName, fc.constantFrom('pdf', 'docx', 'txt', 'md'), (raw, extension) => {
      const name = urlName(shownName(raw), extension)
      expectRules(name)
      expect(shownName(name)).toBe(name)
      expect(name.toLowerCase().endsWith(`.${extension}`)).toBe(true)
      expect(urlName(name, extension)).toBe(name)
    }),
    { numRuns },
  )
})

function expectRules(name: string): void {
  expect(name).not.toBe('')
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255)
  expect(name.isWellFormed()).toBe(true)
  expect(name.normalize('NFC')).toBe(name)
  expect(name).not.toMatch(/[/\\<>:"|?*\p{Cc}\p{Bidi_Control}\u2028\u2029]/u)
  expect(name).not.toMatch(/(?![\u200c\u200d])[\p{Cf}\p{Default_Ignorable_Code_Point}]/u)
  expect(name).not.toMatch(/^[\s.]|[\s.]$/)
  expect(name).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)\s*(?:\.|$)/i)
}
