import type { Command } from 'commander'
import { type JsonOption, run, withJson } from './context.ts'
import { printJson, printProperties } from './output.ts'

export function addUploadCommands(program: Command): void {
  const uploads = program.command('uploads').description('maintain uploaded files')

  withJson(uploads.command('sweep'))
    .description('delete expired uploads, and what the storage or the database has and the other does not')
    .action(async ({ json }: JsonOption) => {
      const swept = await run('uploads sweep', {})
      if (json) printJson(swept)
      else {
        const { expired, files, records, unfinished, suspicious } = swept
        printProperties({
          expired,
          'files without a record': files,
          'records without a file': records,
          'unfinished writes': unfinished,
          ...(suspicious > 0 && { 'records kept although their files are missing': suspicious }),
        })
      }
      if (swept.suspicious > 0) process.exitCode = 1
    })
}
