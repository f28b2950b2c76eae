import type { Command } from 'commander'
import { loadEnvironment } from '#config/load.ts'
import { oneLine } from '#process/refusal-line.ts'

export function addHealthCommand(program: Command): void {
  program
    .command('health')
    .description(
      'ask the gateway on this machine, at OPS_PORT or PORT, whether it is ready; prints one line, and exits with 1 if it is not',
    )
    .option('--live', 'ask only whether it is alive, without its database and other dependencies')
    .action(async ({ live }: { live?: true }) => {
      const { checkHealth } = await import('#process/check-health.ts')
      const settings = loadEnvironment(process.env, process.cwd())
      const { isGood, line } = await checkHealth(settings, live ? 'live' : 'ready')
      if (isGood) return console.log(line)
      console.error(oneLine(line))
      process.exitCode = 1
    })
}
