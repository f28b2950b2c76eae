import type { DeploymentProcess, DeploymentRecord } from '#core/agents/deployments/describe-deployments.ts'
import { isAdmin } from '#core/requests/principal.ts'
import { DEPLOYMENT_DESCRIPTIONS } from '#http/descriptions/deployment-descriptions.ts'
import { BREAKER_STATE } from '#resources/deployment-words.ts'
import { builder } from '../builder.ts'
import { optionalCallerOf } from '../context.ts'
import { vocabularyEnum } from '../enum-of.ts'
import { Agent, AgentStatusType } from './agent.ts'

const BreakerState = vocabularyEnum(BREAKER_STATE)

const Process = builder.objectRef<DeploymentProcess>('DeploymentProcess').implement({
  description: DEPLOYMENT_DESCRIPTIONS.process,
  fields: (t) => ({
    instanceId: t.exposeID('instance', { description: DEPLOYMENT_DESCRIPTIONS.instanceId }),
    host: t.exposeString('host', { nullable: true, description: DEPLOYMENT_DESCRIPTIONS.host }),
    pid: t.exposeInt('pid', { nullable: true, description: DEPLOYMENT_DESCRIPTIONS.pid }),
    version: t.exposeString('version', { nullable: true, description: DEPLOYMENT_DESCRIPTIONS.version }),
    breaker: t.expose('breaker', {
      type: BreakerState,
      description: DEPLOYMENT_DESCRIPTIONS.breakerOfProcess,
    }),
    callsInFlight: t.exposeInt('inFlight', { description: DEPLOYMENT_DESCRIPTIONS.inFlightOfProcess }),
    openSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: DEPLOYMENT_DESCRIPTIONS.openSince,
      resolve: ({ openSince }) => (openSince === undefined ? null : new Date(openSince)),
    }),
    reason: t.exposeString('reason', { nullable: true, description: DEPLOYMENT_DESCRIPTIONS.reason }),
  }),
})

const AgentDeployment = builder.objectRef<DeploymentRecord>('AgentDeployment').implement({
  description: DEPLOYMENT_DESCRIPTIONS.resource,
  fields: (t) => ({
    // Not `id`: it is unique only within its agent, and clients store objects by their ids.
    deploymentId: t.exposeString('id', { description: DEPLOYMENT_DESCRIPTIONS.id }),
    weight: t.exposeFloat('weight', { description: DEPLOYMENT_DESCRIPTIONS.weight }),
    priority: t.exposeInt('priority', { description: DEPLOYMENT_DESCRIPTIONS.priority }),
    state: t.exposeString('state', { description: DEPLOYMENT_DESCRIPTIONS.state }),
    disabled: t.exposeBoolean('disabled', { description: DEPLOYMENT_DESCRIPTIONS.disabled }),
    status: t.field({
      type: AgentStatusType,
      description: DEPLOYMENT_DESCRIPTIONS.status,
      resolve: ({ probe }) => probe.status,
    }),
    statusSince: t.field({
      type: 'DateTime',
      nullable: true,
      description: DEPLOYMENT_DESCRIPTIONS.statusSince,
      resolve: ({ probe: { since } }) => (since === undefined ? null : new Date(since)),
    }),
    statusReason: t.string({
      nullable: true,
      description: DEPLOYMENT_DESCRIPTIONS.statusReason,
      resolve: ({ probe }) => probe.reason ?? null,
    }),
    probeMs: t.int({ description: DEPLOYMENT_DESCRIPTIONS.probeMs, resolve: ({ probe }) => probe.ms }),
    breaker: t.expose('breaker', { type: BreakerState, description: DEPLOYMENT_DESCRIPTIONS.breaker }),
    callsInFlight: t.exposeInt('inFlight', { description: DEPLOYMENT_DESCRIPTIONS.inFlight }),
    processes: t.expose('processes', { type: [Process], description: DEPLOYMENT_DESCRIPTIONS.processes }),
  }),
})

builder.objectField(Agent, 'deployments', (t) =>
  t.field({
    type: [AgentDeployment],
    nullable: { list: true, items: false },
    description: 'The deployments that answer for the agent, with their load. Shown only to administrators.',
    resolve(agent, _args, context) {
      const caller = optionalCallerOf(context)
      if (caller === undefined || !isAdmin(caller)) return null
      return context.services.agents.deploymentsOf(caller, agent.id)
    },
  }),
)
