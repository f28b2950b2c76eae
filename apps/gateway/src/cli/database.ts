import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { FileCopy } from '#process/copy-files.ts'
import { config, type JsonOption, run, withJson } from './context.ts'
import { type Column, printJson, printTable } from './output.ts'

export function addDatabaseCommands(program: Command): void {
  program
    .command('migrate')
    .description(
      'bring the database up to the schema of this version; outside production, start does this by itself',
    )
    .action(async () => {
      const settings = config()
      const { migrateOnce } = await import('#process/run-command.ts')
      const applied = await migrateOnce(settings)
      console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`)
    })

  const db = program.command('db').description('move an embedded database to PostgreSQL')

  withJson(db.command('export'))
    .description(
      'write every row of the embedded database to a new file, also while the gateway runs; one export runs at a time',
    )
    .argument('<file>', 'compressed with gzip if its name ends in .gz')
    .option(
      '--files <destination>',
      'also copy the uploaded files from the local disk: to a folder, or "s3" for the bucket of S3_BUCKET',
    )
    .action(async (file: string, { files, json }: JsonOption & { files?: string }) => {
      const copying = files === undefined ? undefined : await openFileCopy(files)
      // The rows come first, so that every file to which one of them refers is found by the copy.
      const rows = await run('db export', { file: resolve(file) })
      if (copying === undefined) return show(rows, json)
      const copied = await copying.run()
      show(
        {
          ...rows,
          uploaded_files: copied.files,
          ...(copied.missing > 0 && { missing_files: copied.missing }),
        },
        json,
      )
    })

  withJson(db.command('import'))
    .description(
      'fill the empty, migrated database of DATABASE_URL from an exported file, in one transaction',
    )
    .argument('<file>', 'a file that "db export" wrote')
    .action(async (file: string, { json }: JsonOption) => {
      const settings = config()
      const { importOnce } = await import('#process/run-command.ts')
      show(await importOnce(settings, file), json)
    })
}

async function openFileCopy(destination: string): Promise<FileCopy> {
  const settings = config()
  const { openFileCopy } = await import('#process/copy-files.ts')
  return openFileCopy(settings, destination)
}

function show(rowsOfTables: Readonly<Record<string, number>>, json: true | undefined): void {
  if (json) printJson(rowsOfTables)
  else printTable(Object.entries(rowsOfTables), COLUMNS, 'There is no table.')
}

const COLUMNS: readonly Column<[string, number]>[] = [
  ['table', ([table]) => table],
  ['rows', ([, rows]) => rows],
]
