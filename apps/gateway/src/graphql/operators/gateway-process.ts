import { CONFIGURATION_STATES, type ProcessConfiguration } from '#core/ledger/configuration-state.ts'
import { PROCESS_CONCERNS, type ProcessConcern } from '#core/ledger/process-concerns.ts'
import {
  type GatewayProcess,
  PROCESS_FILTERS,
  PROCESS_STATES,
  type ProcessBreaker,
} from '#core/ledger/process-list.ts'
import { PROCESS_DESCRIPTIONS } from '#http/descriptions/process-descriptions.ts'
import { builder } from '../builder.ts'
import { callerOf } from '../context.ts'
import { enumOf } from '../enum-of.ts'
import { COUNTS_AS_LIST } from '../serving/cost.ts'
import { BreakerState } from '../types/agent-deployment.ts'

const GatewayProcessState = enumOf('GatewayProcessState', PROCESS_STATES, {
  description: 'Whether a process of the gateway lives.',
  values: PROCESS_DESCRIPTIONS,
})

const GatewayProcessFilter = enumOf('GatewayProcessFilter', PROCESS_FILTERS, {
  description: 'Which processes of the gateway to list.',
  values: PROCESS_DESCRIPTIONS,
})

const GatewayProcessBreaker = builder.objectRef<ProcessBreaker>('GatewayProcessBreaker').implement({
  description: PROCESS_DESCRIPTIONS.breaker,
  fields: (t) => ({
    agentId: t.exposeString('agent', { description: PROCESS_DESCRIPTIONS.breakerAgent }),
    deploymentId: t.exposeString('deployment', { description: PROCESS_DESCRIPTIONS.breakerDeployment }),
    breaker: t.expose('breaker', { type: BreakerState, description: PROCESS_DESCRIPTIONS.breakerState }),
    openSince: t.expose('openSince', {
      type: 'DateTime',
      nullable: true,
      description: PROCESS_DESCRIPTIONS.openSince,
    }),
    reason: t.exposeString('reason', { nullable: true, description: PROCESS_DESCRIPTIONS.reason }),
  }),
})

const GatewayProcessConcernKind = enumOf('GatewayProcessConcernKind', PROCESS_CONCERNS, {
  description: 'What is wrong with a process of the gateway.',
  values: PROCESS_DESCRIPTIONS,
})

const GatewayProcessConcern = builder.objectRef<ProcessConcern>('GatewayProcessConcern').implement({
  description: PROCESS_DESCRIPTIONS.concern,
  fields: (t) => ({
    concern: t.expose('concern', {
      type: GatewayProcessConcernKind,
      description: PROCESS_DESCRIPTIONS.concernKind,
    }),
    cause: t.exposeString('cause', { nullable: true, description: PROCESS_DESCRIPTIONS.concernCause }),
    since: t.expose('since', { type: 'DateTime', description: PROCESS_DESCRIPTIONS.concernSince }),
    count: t.exposeInt('count', { nullable: true, description: PROCESS_DESCRIPTIONS.concernCount }),
    blockedBy: t.exposeString('blockedBy', { nullable: true, description: PROCESS_DESCRIPTIONS.blockedBy }),
  }),
})

const ProcessConfigurationState = enumOf('ProcessConfigurationState', CONFIGURATION_STATES, {
  description: 'Whether a process serves the configuration that was loaded last.',
  values: PROCESS_DESCRIPTIONS,
})

const ProcessConfigurationType = builder.objectRef<ProcessConfiguration>('ProcessConfiguration').implement({
  description: 'The configuration that a process of the gateway serves.',
  fields: (t) => ({
    state: t.expose('state', {
      type: ProcessConfigurationState,
      description: PROCESS_DESCRIPTIONS.configurationState,
    }),
    number: t.exposeInt('number', { description: PROCESS_DESCRIPTIONS.number }),
    fingerprint: t.exposeString('fingerprint', { description: PROCESS_DESCRIPTIONS.fingerprint }),
    since: t.expose('since', { type: 'DateTime', description: PROCESS_DESCRIPTIONS.since }),
    needsRestart: t.field({
      type: ['String'],
      description: PROCESS_DESCRIPTIONS.needsRestart,
      resolve: ({ needsRestart }) => [...needsRestart],
    }),
    error: t.exposeString('error', { nullable: true, description: PROCESS_DESCRIPTIONS.configurationError }),
  }),
})

const GatewayProcessType = builder.objectRef<GatewayProcess>('GatewayProcess').implement({
  description: PROCESS_DESCRIPTIONS.resource,
  fields: (t) => ({
    id: t.exposeID('id', { description: PROCESS_DESCRIPTIONS.id }),
    host: t.exposeString('host', { nullable: true, description: PROCESS_DESCRIPTIONS.host }),
    pid: t.exposeInt('pid', { nullable: true, description: PROCESS_DESCRIPTIONS.pid }),
    port: t.exposeInt('port', { nullable: true, description: PROCESS_DESCRIPTIONS.port }),
    version: t.exposeString('version', { nullable: true, description: PROCESS_DESCRIPTIONS.version }),
    build: t.exposeString('build', { description: PROCESS_DESCRIPTIONS.build }),
    state: t.expose('state', { type: GatewayProcessState, description: PROCESS_DESCRIPTIONS.state }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: PROCESS_DESCRIPTIONS.startedAt }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: PROCESS_DESCRIPTIONS.lastSeenAt }),
    stoppedAt: t.expose('stoppedAt', {
      type: 'DateTime',
      nullable: true,
      description: PROCESS_DESCRIPTIONS.stoppedAt,
    }),
    callsInFlight: t.exposeInt('inFlight', { nullable: true, description: PROCESS_DESCRIPTIONS.inFlight }),
    breakers: t.field({
      type: [GatewayProcessBreaker],
      description: PROCESS_DESCRIPTIONS.breakers,
      resolve: ({ breakers }) => [...breakers],
    }),
    configuration: t.expose('configuration', {
      type: ProcessConfigurationType,
      nullable: true,
      description: PROCESS_DESCRIPTIONS.configuration,
    }),
    concerns: t.field({
      type: [GatewayProcessConcern],
      description: PROCESS_DESCRIPTIONS.concerns,
      resolve: ({ concerns }) => [...concerns],
    }),
  }),
})

builder.queryField('gatewayProcesses', (t) =>
  t.field({
    type: [GatewayProcessType],
    nullable: { list: true, items: false },
    extensions: COUNTS_AS_LIST,
    description:
      'The processes of the gateway, first those that live, and of these those that started last; at most 1,000. Takes an access token of an administrator, or an API key of one with the permission `ADMIN`.',
    args: { state: t.arg({ type: GatewayProcessFilter, description: PROCESS_DESCRIPTIONS.inState }) },
    resolve: (_root, { state }, context) =>
      context.services.processes.list(callerOf(context), { state: state ?? undefined }),
  }),
)
