import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { readRegularFile, readRegularFileSync, UnreadableFile } from './read-regular-file.ts'

// A process, because a pipe is made by a program of the system.

const folder = mkdtempSync(join(tmpdir(), 'read-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'file')
writeFileSync(file, 'Größe')

const read = async (path: string) => readRegularFileSync(path)

test.each([
  ['in time', readRegularFile],
  ['at once', read],
])('a file is read %s, and a pipe is none, whether or not somebody writes to it', async (_, reading) => {
  expect(await reading(file)).toBe('Größe')
  await expect(reading(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(reading(folder)).rejects.toMatchObject({ code: 'EISDIR' })
  const pipe = join(folder, reading.name)
  execFileSync('mkfifo', [pipe])
  await expect(reading(pipe)).rejects.toThrow(UnreadableFile)
  const writer = await open(pipe, 'r+')
  await writer.write('text')
  await expect(reading(pipe)).rejects.toThrow('it is a pipe, a socket or a device, and not a file')
  await writer.close()
})

test('a file system that does not answer keeps one read at most, and the process is not kept from ending', async () => {
  const answer = Promise.withResolvers<void>()
  const hanging = {
    withinMs: 1,
    async open(path: string, flags: number) {
      await answer.promise
      return open(path, flags)
    },
  }
  const before = process.listenerCount('exit')
  await expect(readRegularFile(file, hanging)).rejects.toThrow('its file system does not answer')
  await expect(readRegularFile(join(folder, 'another'))).rejects.toThrow(
    `the file system of ${file} does not answer`,
  )
  expect(process.listenerCount('exit')).toBe(before + 1)
  answer.resolve()
  await vi.waitFor(async () => expect(await readRegularFile(file)).toBe('Größe'))
  expect(process.listenerCount('exit')).toBe(before)
})
