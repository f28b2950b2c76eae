import { isAdmin } from '#core/requests/principal.ts'
import { AGENT_DEPLOYMENT } from '#resources/agent-deployment.ts'
import { builder } from '../builder.ts'
import { optionalCallerOf } from '../context.ts'
import { resourceType } from '../resources/resource-type.ts'
import { Agent } from './agent.ts'

builder.objectField(Agent, 'deployments', (t) =>
  t.field({
    type: [resourceType(AGENT_DEPLOYMENT)],
    nullable: { list: true, items: false },
    description: 'The deployments that answer for the agent, with their load. Shown only to administrators.',
    resolve(agent, _args, context) {
      const caller = optionalCallerOf(context)
      if (caller === undefined || !isAdmin(caller)) return null
      return context.services.agents.deploymentsOf(caller, agent.id)
    },
  }),
)
