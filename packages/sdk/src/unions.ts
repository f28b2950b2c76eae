import type { Agent, AuditEvent, PauseField, Refusal } from './generated/wire.ts'
import type { CallState } from './generated/words.ts'

// Words of the contract that are texts in GraphQL, or have another form there; the others are generated.

/** On what an agent runs. */
export type AgentPlatform = Agent['platform']
/** By what right something was done. */
export type AuditActor = AuditEvent['actor']
/** How calls ended, for filters: `failed` stands for all outcomes that count as failures. */
export type OutcomeFilter = Exclude<CallState, 'running'>
/** What the value of a field is. */
export type PauseFieldType = PauseField['type']
/** Whose rate limit has refused a request. */
export type RateLimitOwner = NonNullable<Refusal['limit_of']>
