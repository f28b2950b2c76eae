import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { loadDatabase } from '#config/load.ts'
import type { CopiedFiles, FileCopy } from '#process/copy-files.ts'
import { config, type JsonOption, run, withJson } from './context.ts'
import { type Column, printJson, printTable } from './output.ts'

export function addDatabaseCommands(program: Command): void {
  program
    .command('migrate')
    .description(
      'bring the database up to the schema of this version, also while processes of the version before use it, and without reading a configuration file; outside production, start does this by itself',
    )
    .action(async () => {
      const settings = loadDatabase(process.env, process.cwd())
      const { migrateOnce } = await import('#process/run-command.ts')
      const applied = await migrateOnce(settings)
      console.log(applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`)
    })

  const db = program
    .command('db')
    .description('back up an embedded database, restore it, or move it to PostgreSQL')

  withJson(db.command('export'))
    .description('write every row of the embedded database to a new file, also while the gateway runs')
    .argument('<file>', 'compressed with gzip if its name ends in .gz')
    .option(
      '--files <destination>',
      'also copy the uploaded files from the local disk: to a folder, or "s3" for the bucket of S3_BUCKET',
    )
    .action(async (file: string, { files, json }: JsonOption & { files?: string }) => {
      const copy = files === undefined ? undefined : await openCopyTo(files)
      // The rows come first, so that every file to which one of them refers is found by the copy.
      const rows = await run('db export', { file: resolve(file) })
      const copied = await copy?.((after) => run('uploads files', after === undefined ? {} : { after }))
      show({ rows, files: copied }, json)
    })

  withJson(db.command('import'))
    .description(
      'fill an empty database from an exported file, whole or not at all: the migrated one of DATABASE_URL or, without it, the embedded one of DATA_DIR, whose gateway must be stopped',
    )
    .argument('<file>', 'a file that "db export" wrote')
    .option(
      '--files <folder>',
      'also restore the uploaded files of an embedded database from the folder to which "db export --files" copied them',
    )
    .action(async (file: string, { files, json }: JsonOption & { files?: string }) => {
      const settings = await config()
      const { importOnce } = await import('#process/import-embedded.ts')
      show(await importOnce(settings, file, files), json)
    })
}

async function openCopyTo(destination: string): Promise<FileCopy> {
  const settings = await config()
  const { openFileCopy } = await import('#process/copy-files.ts')
  return openFileCopy(settings, join(settings.dataDir, 'files'), destination)
}

function show(
  { rows, files }: { rows: Readonly<Record<string, number>>; files?: CopiedFiles | undefined },
  json: true | undefined,
): void {
  const counts = {
    ...rows,
    ...(files && { uploaded_files: files.files }),
    ...(files && files.missing > 0 && { missing_files: files.missing }),
  }
  if (json) printJson(counts)
  else printTable(Object.entries(counts), COLUMNS, 'There is no table.')
}

const COLUMNS: readonly Column<[string, number]>[] = [
  ['table', ([table]) => table],
  ['rows', ([, rows]) => rows],
]
