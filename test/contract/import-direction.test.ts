import { execFile } from 'node:child_process'
import { copyFile, cp, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

test('lint refuses every import of a refused.ts and none of an allowed.ts', async () => {
  // Elsewhere: the project's own settings leave fixtures out.
  const tree = await realpath(await mkdtemp(join(tmpdir(), 'import-direction-')))
  try {
    await cp(join(ROOT, 'test/fixtures/import-direction'), tree, { recursive: true })
    await copyFile(join(ROOT, 'biome.json'), join(tree, 'biome.json'))
    expect(await refusedImports(tree)).toEqual(await linesOfRefused(tree))
  } finally {
    await rm(tree, { recursive: true })
  }
})

async function refusedImports(tree: string): Promise<string[]> {
  const output = await new Promise<string>((resolve) => {
    const biome = join(ROOT, 'node_modules/.bin/biome')
    // Its exit code is that of the findings.
    execFile(
      biome,
      ['lint', '--reporter=github', '--max-diagnostics=none'],
      { cwd: tree },
      (_error, stdout) => resolve(stdout),
    )
  })
  const findings = output.matchAll(/title=lint\/style\/noRestrictedImports,file=([^,]+),line=(\d+)/g)
  return [...findings].map(([, file = '', line]) => `${relative(tree, file)}:${line}`).sort()
}

async function linesOfRefused(tree: string): Promise<string[]> {
  const files = (await readdir(tree, { recursive: true })).filter((file) => file.endsWith('/refused.ts'))
  const lines = files.map(async (file) => {
    const text = await readFile(join(tree, file), 'utf8')
    return text
      .trimEnd()
      .split('\n')
      .map((_, index) => `${file}:${index + 1}`)
  })
  return (await Promise.all(lines)).flat().sort()
}
