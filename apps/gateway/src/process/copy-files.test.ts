import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '#config/load.ts'
import { openFileCopy } from './copy-files.ts'

let home: string
let source: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trunkline-copy-'))
  onTestFinished(() => rm(home, { recursive: true }))
  source = join(home, 'data/files')
  await mkdir(source, { recursive: true })
})

const open = async (destination: string) => openFileCopy(await loadConfig({}, home), source, destination)

test('a copy to the folder from which the files come, or in or around it, is refused before anything is written', async () => {
  for (const folder of [source, join(source, 'backup'), join(home, 'data'), home])
    await expect(open(folder)).rejects.toThrow(
      `--files: expected a folder that is neither in nor around ${source}.`,
    )
  expect(await readdir(source)).toEqual([])
})

test('a copy to a file, to S3 without a bucket, or from a folder that is not there, is refused in one line', async () => {
  const file = join(home, 'file')
  await writeFile(file, '')
  await expect(open(file)).rejects.toThrow(
    `Files cannot be stored in ${file}: its path leads through a file (EEXIST).`,
  )
  await expect(open('s3')).rejects.toThrow('S3_BUCKET: is not set')
  await rm(source, { recursive: true })
  await expect(open(join(home, 'other'))).rejects.toThrow(`--files: there is no folder ${source}.`)
})
