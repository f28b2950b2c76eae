import type { CallObserver } from '#core/calls/call-events.ts'
import { followCalls, settleCalls } from '#core/calls/settle-calls.ts'
import { createServices, type ServicesDeps } from '#core/services/create-services.ts'
import type { ProcessTasks, Services } from '#core/services/services.ts'
import { logCalls, logFilesNotKept } from '#ops/call-log.ts'
import { logChanges } from '#ops/log-changes.ts'
import type { Tracing } from '#ops/tracing/create-tracing.ts'
import type { Surroundings } from './surroundings.ts'

/** The parts of other rooms that the services use. */
export type ServiceParts = Omit<
  ServicesDeps,
  | keyof Surroundings
  | 'space'
  | 'onUsageFeedAnswer'
  | 'onKeyWatchAnswer'
  | 'onFileNotKept'
  | 'onAuditDropped'
  | 'sweepObserver'
  | 'observe'
  | 'configuration'
> & { readonly configuration: Pick<ServicesDeps['configuration'], 'source' | 'tell'> }

export function buildServices(
  { config, database, identity, runtime, metrics, tracing, disk, log }: Surroundings,
  parts: ServiceParts,
): { services: Services; processTasks: ProcessTasks } {
  const follow = followCalls([settleCalls(parts.ledger), ...metrics.callFollowers, logCalls(log)])
  return createServices({
    ...parts,
    config,
    database,
    identity,
    runtime,
    space: disk.space,
    onUsageFeedAnswer: logChanges(
      log,
      'the usage of today can be read again',
      'the usage of today cannot be read for its subscribers',
    ),
    onKeyWatchAnswer: logChanges(
      log,
      'the keys of running calls can be checked again',
      'the keys of running calls cannot be checked, so the calls go on',
    ),
    onFileNotKept: logFilesNotKept(log),
    onAuditDropped: metrics.auditDropped,
    configuration: {
      ...parts.configuration,
      observer: {
        taken: (reload) => log.info(reload, 'the configuration was reloaded'),
        differs(differs, why) {
          metrics.configurationDiffers(differs)
          if (!differs) log.info('this process serves the configuration that was loaded last')
          else log.error({ why }, 'this process serves another configuration than was loaded last')
        },
      },
    },
    sweepObserver: { swept: metrics.uploadsSwept },
    observe: tracing === undefined ? follow : andTrace(follow, tracing),
  })
}

function andTrace(follow: CallObserver, { call: trace }: Tracing): CallObserver {
  return (event) => {
    follow(event)
    trace(event)
  }
}
