import type { Command } from 'commander'
import type { CommandResult } from '#process/commands.ts'
import { type JsonOption, run, withJson } from './context.ts'
import { type Column, printJson, printTable } from './output.ts'

export function addAgentsCommand(program: Command): void {
  withJson(program.command('agents'))
    .description(
      'probe every deployment of every agent, and list what they answer, and their load in all running gateways',
    )
    .action(async ({ json }: JsonOption) => {
      const agents = await run('agents', {})
      if (json) printJson(agents)
      else printTable(agents.flatMap(linesOf), COLUMNS, 'There is no agent.')
    })
}

type DeployedAgent = CommandResult<'agents'>[number]
type Deployment = DeployedAgent['deployments'][number]
type Line = Deployment & { readonly agent: DeployedAgent }

function linesOf(agent: DeployedAgent): Line[] {
  return agent.deployments.map((deployment) => ({ ...deployment, agent }))
}

const COLUMNS: readonly Column<Line>[] = [
  ['agent', ({ agent }) => agent.id],
  ['status', ({ agent }) => agent.status],
  ['deployment', ({ id }) => id],
  ['weight', ({ weight, disabled }) => (disabled ? `${weight} (disabled)` : weight)],
  ['priority', ({ priority }) => priority],
  ['state', ({ state }) => state],
  ['probe', ({ status }) => status],
  ['ms', ({ probe_ms }) => probe_ms],
  ['breaker', breakerOf],
  ['calls', ({ calls_in_flight }) => calls_in_flight],
]

/** `closed`, or in how many of the running gateways it is not; a hyphen where none runs. */
function breakerOf({ breaker, processes }: Deployment): string | undefined {
  if (processes.length === 0) return undefined
  if (breaker === 'closed') return breaker
  const alike = processes.filter((process) => process.breaker === breaker).length
  return `${breaker} in ${alike} of ${processes.length}`
}
