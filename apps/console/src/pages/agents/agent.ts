import type { AgentListQuery } from '../../generated/graphql.ts'

export type Agent = NonNullable<AgentListQuery['agents']>[number]
export type Deployment = NonNullable<Agent['deployments']>[number]
