import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

// A process, because the script builds into a folder that a running gateway may serve, and reports by its exit code.

// A build takes long on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

const ROOT = join(import.meta.dirname, '../..')

interface Build {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

describe('the build of the console', () => {
  let copy: string
  const current = (name: string) => join(copy, 'apps/console/dist/current', name)
  const main = () => join(copy, 'apps/console/src/main.tsx')
  const leftovers = () => globSync('{building,replaced}-*', { cwd: join(copy, 'apps/console/dist') })

  /** A copy of what a build reads, because the tests change it. */
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), 'trunkline-build-'))
    const isSource = (path: string) => !/\/(?:node_modules|dist)$/.test(path)
    cpSync(join(ROOT, 'apps/console'), join(copy, 'apps/console'), { recursive: true, filter: isSource })
    cpSync(join(ROOT, 'packages/sdk'), join(copy, 'packages/sdk'), {
      recursive: true,
      filter: (path) => !/\/(?:node_modules|dist)$/.test(path),
    })
    for (const file of ['package.json', 'pnpm-lock.yaml', 'tsconfig.json']) {
      cpSync(join(ROOT, file), join(copy, file))
    }
    for (const folder of ['', 'apps/console/', 'packages/sdk/']) {
      symlinkSync(join(ROOT, `${folder}node_modules`), join(copy, `${folder}node_modules`))
    }
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  const build = (...args: string[]) =>
    new Promise<Build>((resolve) => {
      const command = [join(copy, 'apps/console/scripts/build.ts'), ...args]
      execFile(process.execPath, command, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : 1, stdout, stderr })
      })
    })

  test('runs once for the same sources, also where two processes start at once', async () => {
    const both = await Promise.all([build(), build()])
    for (const { code, stdout, stderr } of both) {
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^Building the console … [\d.]+ s\n$/),
        stderr: '',
      })
    }
    expect(await build()).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(leftovers()).toEqual([])
  })

  test('stores every text in both codings, and files that stay as they are once', () => {
    const files = globSync('files/**/*.*', { cwd: current('') })
    for (const name of files.filter((name) => /\.(?:html|js|css)$/.test(name))) {
      const text = readFileSync(current(name))
      // A few bytes do not get smaller.
      if (text.length < 200) continue
      expect(brotliDecompressSync(readFileSync(current(`${name}.br`))), name).toEqual(text)
      expect(gunzipSync(readFileSync(current(`${name}.gz`))), name).toEqual(text)
    }
    expect(files.filter((name) => /\.woff2\.(?:br|gz)$/.test(name))).toEqual([])
  })

  test('runs again when a source changes', async () => {
    const before = readFileSync(current('stamp'), 'utf8')
    writeFileSync(main(), `${readFileSync(main(), 'utf8')}\nconsole.debug('changed')\n`)
    expect(await build()).toMatchObject({ code: 0, stdout: expect.stringContaining('Building') })
    expect(readFileSync(current('stamp'), 'utf8')).not.toBe(before)
    const scripts = globSync('files/assets/*.js', { cwd: current('') })
    expect(scripts.some((name) => readFileSync(current(name), 'utf8').includes('changed'))).toBe(true)
  })

  test('that fails keeps the last one, says why, and does not keep a gateway from starting', async () => {
    const page = readFileSync(current('files/index.html'), 'utf8')
    writeFileSync(main(), 'this is no TypeScript')
    const failed = await build()
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/failed\n$/) })
    expect(failed.stderr).toContain('main.tsx')
    expect(failed.stderr).toContain('The last build of the console is kept.')
    expect(readFileSync(current('files/index.html'), 'utf8')).toBe(page)
    expect(leftovers()).toEqual([])

    rmSync(join(copy, 'apps/console/dist'), { recursive: true })
    expect(await build('--optional')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('There is no console.'),
    })
    expect(existsSync(current(''))).toBe(false)
  })
})
