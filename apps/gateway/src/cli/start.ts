import cluster from 'node:cluster'
import type { Command } from 'commander'
import type { Config } from '#config/load.ts'
import { config } from './context.ts'

export function addGatewayCommands(program: Command): void {
  program
    .command('start')
    .description('run the gateway until SIGTERM or SIGINT; this is what trunkline does without a command')
    .action(async () => {
      const settings = cluster.isWorker ? await configOfPrimary() : await config()
      // The gateway keeps serving even if its output is closed or its disk is full.
      process.stdout.on('error', () => undefined)
      if (settings.workers > 1 && cluster.isPrimary) process.exit(await startWorkers(settings))
      const { start } = await import('#process/start.ts')
      await start(settings)
    })
}

async function configOfPrimary(): Promise<Config> {
  const { configOfPrimary: ask } = await import('#process/configuration-file.ts')
  return ask()
}

/** In sandbox mode the emulators run in the primary, because emulators of each worker would not share conversations. */
async function startWorkers(settings: Config): Promise<number> {
  const { runWorkers } = await import('#process/workers.ts')
  if (!settings.sandbox) return runWorkers(settings)
  const { startSandboxAgents } = await import('#process/sandbox-agents.ts')
  const { entries } = await startSandboxAgents()
  return runWorkers(settings, entries)
}
