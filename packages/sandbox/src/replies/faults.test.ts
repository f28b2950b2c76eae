import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import {
  EMULATORS,
  ERROR_KINDS,
  emulatorsWith,
  FAULTS,
  FILE_KINDS,
  PAUSE_KINDS,
  parseFaults,
} from './faults.ts'

test('fault words are separated from the question around them', () => {
  const faults = parseFaults('Tell me sandbox:slow=20 about sandbox:reset gateways')
  expect(faults.question).toBe('Tell me about gateways')
  expect(faults.has('sandbox:slow')).toBe(true)
  expect(faults.number('sandbox:slow', 100)).toBe(20)
  expect(faults.has('sandbox:reset')).toBe(true)
  expect(faults.has('sandbox:hang')).toBe(false)
})

test('a word without a number uses the default, and zero is a number', () => {
  expect(parseFaults('sandbox:slow').number('sandbox:slow', 100)).toBe(100)
  expect(parseFaults('sandbox:slow=0').number('sandbox:slow', 100)).toBe(0)
})

test('a fault word inside another word, or an unknown one, is text', () => {
  expect(parseFaults('xsandbox:reset sandbox:unheard-of').question).toBe('xsandbox:reset sandbox:unheard-of')
})

test('the text after echo is kept byte for byte, including fault words', () => {
  const rest = ' two  spaces\u2028\r\ndata: [DONE]\n\nsandbox:reset '
  const faults = parseFaults(`sandbox:slow=1 sandbox:echo ${rest}`)
  expect(faults.echo).toBe(rest)
  expect(faults.has('sandbox:slow')).toBe(true)
  expect(faults.has('sandbox:reset')).toBe(false)
})

test('an unknown kind of error is the server’s own failure', () => {
  expect(parseFaults('sandbox:error=quota').error).toBe('quota')
  expect(parseFaults('sandbox:error=toString').error).toBe('server')
  expect(parseFaults('sandbox:error').error).toBe('server')
})

test('a run pauses in the way of the kind, and with a choice for want of a known one', () => {
  expect(parseFaults('sandbox:interactive=form Hello').pause).toBe('form')
  expect(parseFaults('sandbox:interactive').pause).toBe('choice')
  expect(parseFaults('sandbox:interactive=toString').pause).toBe('choice')
  expect(parseFaults('Hello').pause).toBeUndefined()
})

test('a reply has the files of the kind, and a picture for want of a known one', () => {
  expect(parseFaults('sandbox:file=ten Hello').file).toBe('ten')
  expect(parseFaults('sandbox:file').file).toBe('beside')
  expect(parseFaults('sandbox:file=toString').file).toBe('beside')
  expect(parseFaults('Hello').file).toBeUndefined()
})

test('a word that the emulator does not know is the only one that counts', () => {
  const query = 'sandbox:slow=1 sandbox:error=quota sandbox:interactive sandbox:echo Hello'
  const refused = parseFaults(query, 'Coze')
  expect(refused.unknown).toEqual({ emulator: 'Coze', commands: ['sandbox:interactive'] })
  expect([refused.error, refused.pause, refused.has('sandbox:slow')]).toEqual([undefined, undefined, false])
  expect(parseFaults(query, 'HiAgent')).toMatchObject({ unknown: undefined, error: 'quota', pause: 'choice' })
})

test.each([
  'sandbox:intractive',
  'sandbox:interactive,',
  'sandbox:interactive=toString',
  'sandbox:error=quotas',
  'sandbox:file=nine',
])('what no emulator knows is refused by each: %s', (command) => {
  for (const emulator of EMULATORS) {
    expect(parseFaults(`Hello ${command} `, emulator).unknown).toEqual({ emulator, commands: [command] })
  }
})

test('the README repeats all tables, with the emulators that know a word', async () => {
  const file = await readFile(new URL('../../README.md', import.meta.url), 'utf8')
  // The formatter pads the columns.
  const readme = file.replaceAll(/ {2,}/g, ' ')
  const knownTo = (command: string) => {
    const emulators = emulatorsWith(command)
    return emulators.length === EMULATORS.length ? 'all' : emulators.join(', ')
  }
  const tables = { '': FAULTS, 'sandbox:interactive=': PAUSE_KINDS, 'sandbox:file=': FILE_KINDS }
  for (const [prefix, table] of Object.entries(tables)) {
    for (const [word, text] of Object.entries(table)) {
      expect(readme).toContain(`| \`${word}\` | ${knownTo(prefix + word)} | ${text} |`)
    }
  }
  for (const [kind, text] of Object.entries(ERROR_KINDS))
    expect(readme).toContain(`| \`${kind}\` | ${text} |`)
})
