import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { contentOfFolder, markFinished, markUnfinished, openingError } from './database-folder.ts'

let home: string
let folder: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trunkline-folder-'))
  folder = join(home, 'db')
})
afterEach(() => rm(home, { recursive: true }))

const put = (name: string, text = '') => writeFile(join(folder, name), text)

describe('a new database is made', () => {
  test('where there is no folder, or an empty one', async () => {
    expect(await contentOfFolder(folder)).toBe('none')
    await mkdir(folder)
    expect(await contentOfFolder(folder)).toBe('none')
    await mkdir(join(folder, 'lost+found'))
    expect(await contentOfFolder(folder)).toBe('none')
    await writeFile(join(home, 'file'), '')
    expect(await contentOfFolder(join(home, 'file', 'db'))).toBe('none')
  })

  test('where the making of one was interrupted, and no more once it was opened', async () => {
    await mkdir(folder)
    await markUnfinished(folder)
    await put('postgresql.conf')
    expect(await contentOfFolder(folder)).toBe('none')
    await put('PG_VERSION', '17\n')
    expect(await contentOfFolder(folder)).toBe('database')
    expect((await openingError(folder, new Error('Aborted().'))).message).toBe(
      `DATA_DIR: the database in ${folder}, of PostgreSQL 17, cannot be opened: Aborted(). Its making was interrupted, so it has nothing yet: delete the folder and start again.`,
    )
    await markFinished(folder)
    expect((await openingError(folder, new Error('Aborted().'))).message).toContain('restore a backup')
    await rm(join(folder, 'PG_VERSION'))
    await expect(contentOfFolder(folder)).rejects.toThrow('is not empty (postgresql.conf)')
  })
})

describe('no new database is made', () => {
  test('over what has files and no PG_VERSION', async () => {
    await mkdir(folder)
    for (const name of ['base', 'global', 'pg_wal', 'pg_xact']) await put(name)
    await expect(contentOfFolder(folder)).rejects.toThrow(
      `DATA_DIR: ${folder} is not empty (base, global, pg_wal, …), but it has no PG_VERSION and is no whole database.`,
    )
  })

  test('through a link, wherever it leads', async () => {
    await symlink(join(home, 'elsewhere'), folder)
    await expect(contentOfFolder(folder)).rejects.toThrow(`${folder} is a symbolic link`)
    await mkdir(join(home, 'elsewhere'))
    await expect(contentOfFolder(folder)).rejects.toThrow(`${folder} is a symbolic link`)
  })

  test('in the place of a file', async () => {
    await writeFile(folder, '')
    await expect(contentOfFolder(folder)).rejects.toThrow(`${folder} is not a folder.`)
  })
})
