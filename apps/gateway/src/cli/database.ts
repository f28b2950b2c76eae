import { resolve } from 'node:path'
import type { Command } from 'commander'
import { config, type JsonOption, run, withJson } from './context.ts'
import { type Column, printJson, printTable } from './output.ts'

export function addDatabaseCommands(program: Command): void {
  program
    .command('migrate')
    .description('bring the database up to the schema of this version')
    .action(async () => {
      const settings = config()
      const { migrateOnce } = await import('./run-command.ts')
      const applied = await migrateOnce(settings)
      console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`)
    })

  const db = program.command('db').description('move an embedded database to PostgreSQL')

  withJson(db.command('export'))
    .description('write every row of the embedded database to a new file, also while the gateway runs')
    .argument('<file>', 'compressed with gzip if its name ends in .gz')
    .action(async (file: string, { json }: JsonOption) =>
      show(await run('db export', { file: resolve(file) }), json),
    )

  withJson(db.command('import'))
    .description('fill the empty, migrated database of DATABASE_URL from an exported file')
    .argument('<file>')
    .action(async (file: string, { json }: JsonOption) => {
      const settings = config()
      const { importOnce } = await import('./run-command.ts')
      show(await importOnce(settings, file), json)
    })
}

function show(rowsOfTables: Readonly<Record<string, number>>, json: true | undefined): void {
  if (json) printJson(rowsOfTables)
  else printTable(Object.entries(rowsOfTables), COLUMNS, 'There is no table.')
}

const COLUMNS: readonly Column<[string, number]>[] = [
  ['table', ([table]) => table],
  ['rows', ([, rows]) => rows],
]
