import { chmod, mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isOpenToOthers, makePrivateDirectory } from './private-directory.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-private-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

test('a directory is private in one that is open to everybody, whatever the umask of the process is', async () => {
  await chmod(folder, 0o755)
  await makePrivateDirectory(join(folder, 'a/db'))
  expect([await modeOf(join(folder, 'a')), await modeOf(join(folder, 'a/db'))]).toEqual(['700', '700'])
})

test('a directory that an earlier version left open to others is closed', async () => {
  const path = join(folder, 'db')
  await mkdir(path)
  await chmod(path, 0o755)
  expect(await isOpenToOthers(path)).toBe(true)
  await makePrivateDirectory(path)
  expect(await isOpenToOthers(path)).toBe(false)
})
