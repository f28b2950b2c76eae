import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@trunkline/gateway/src/core/database/open.ts'
import { expect, test } from 'vitest'
import { copyPreparedDataDir } from '../support/gateway-template.ts'

// A process, because what a kill -9 leaves on the disk can be known only by killing the process that wrote it.

test.skipIf(process.env.E2E_DATABASE_URL)(
  'an embedded database keeps what was written when its process is killed',
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'trunkline-database-'))
    await copyPreparedDataDir(dataDir)
    const program = `
    const { openDatabase } = await import(${JSON.stringify(import.meta.resolve('@trunkline/gateway/src/core/database/open.ts'))})
    const database = await openDatabase({ kind: 'embedded', dataDir: process.argv[1] })
    await database.sql.query("INSERT INTO settings VALUES ('written', 'yes')")
    console.log('written')
    setInterval(() => {}, 1000)
  `
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')

    const database = await openDatabase({ kind: 'embedded', dataDir })
    expect(await database.sql.query('SELECT * FROM settings')).toEqual([{ name: 'written', value: 'yes' }])
    await database.close()
    await rm(dataDir, { recursive: true })
  },
)
