import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OperatorError } from '#core/base/errors/operator-error.ts'
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

/** What the system answers where the directory belongs to another account. */
async function notPermitted(path: string): Promise<never> {
  throw Object.assign(new Error(`EPERM: operation not permitted, chmod '${path}'`), { code: 'EPERM' })
}

/** Creates a directory where every file has the same mode. */
async function withoutModes(prefix: string): Promise<string> {
  const path = await mkdtemp(prefix)
  await chmod(path, 0o777)
  return path
}

async function openDirectory(): Promise<string> {
  const path = join(folder, 'db')
  await mkdir(path)
  await chmod(path, 0o755)
  return path
}

test('a directory of another account that is open to others is refused, and its mode is left as it is', async () => {
  const path = await openDirectory()
  const making = makePrivateDirectory(path, { chmod: notPermitted, mkdtemp })
  await expect(making).rejects.toBeInstanceOf(OperatorError)
  await expect(making).rejects.toThrow(`chmod 700 ${path}`)
  expect(await modeOf(path)).toBe('755')
  // Nothing is left of what has found out whether modes work here.
  expect(await readdir(folder)).toEqual(['db'])
})

test('a directory that cannot be closed is accepted where modes do not work', async () => {
  const path = await openDirectory()
  await makePrivateDirectory(path, { chmod: notPermitted, mkdtemp: withoutModes })
  expect(await readdir(folder)).toEqual(['db'])
})

test('a directory whose file system ignores a change of its mode is accepted', async () => {
  const path = await openDirectory()
  await makePrivateDirectory(path, { chmod: async () => undefined, mkdtemp: withoutModes })
  expect(await isOpenToOthers(path)).toBe(true)
})

test('a directory of another account that is private is accepted, since nothing has to be changed', async () => {
  const path = join(folder, 'db')
  await mkdir(path, { mode: 0o700 })
  await makePrivateDirectory(path, { chmod: notPermitted, mkdtemp })
})

// A process, because an account cannot be left and taken again.
test.runIf(process.getuid?.() === 0)(
  'a directory that the system does not let this account close is refused',
  async () => {
    const path = await openDirectory()
    await chmod(folder, 0o777)
    const code = `
    import { makePrivateDirectory } from ${JSON.stringify(new URL('./private-directory.ts', import.meta.url).href)}
    process.setuid(65534)
    await makePrivateDirectory(${JSON.stringify(path)}).then(() => console.log('accepted'), (error) => console.log(error.name))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code])
    expect(stdout.trim()).toBe('OperatorError')
  },
)
