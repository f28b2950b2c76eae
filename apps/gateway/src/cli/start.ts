import cluster from 'node:cluster'
import type { Command } from 'commander'
import type { Config } from '#config/load.ts'
import { config } from './context.ts'

export function addGatewayCommands(program: Command): void {
  program
    .command('start')
    .description('run the gateway until SIGTERM or SIGINT')
    .action(async () => {
      const settings = config()
      // The gateway keeps serving even if its output is closed or its disk is full.
      process.stdout.on('error', () => undefined)
      if (settings.workers > 1 && cluster.isPrimary) process.exit(await startWorkers(settings))
      const { start } = await import('#process/start.ts')
      await start(settings)
    })

  program
    .command('config')
    .description('inspect the configuration')
    .command('check')
    .description(
      'check the configuration file, the environment and the storage of files, and print every error; with S3 this writes, reads and deletes a file',
    )
    .action(async () => {
      const settings = config()
      const { source, agents, sandbox } = settings
      const { checkStorage } = await import('#process/check-storage.ts')
      for (const advice of await checkStorage(settings)) console.log(`Note: ${advice}`)
      const from = source ?? 'no file: sandbox mode'
      console.log(
        `The configuration is good (${from}).${sandbox ? '' : ` Agents: ${agents.map(({ id }) => id).join(', ')}.`}`,
      )
    })
}

/** In sandbox mode the emulators run in the primary, because emulators of each worker would not share conversations. */
async function startWorkers({ workers, sandbox }: Config): Promise<number> {
  const { runWorkers } = await import('#process/workers.ts')
  if (!sandbox) return runWorkers(workers, {})
  const { startSandboxAgents } = await import('#process/sandbox-agents.ts')
  const { entries } = await startSandboxAgents()
  return runWorkers(workers, { SANDBOX_AGENTS: JSON.stringify(entries) })
}
