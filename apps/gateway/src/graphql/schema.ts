import { printSchema } from 'graphql'
import { builder } from './builder.ts'
import { locateProblems } from './serving/locate-problems.ts'
import { withPagesInOneDirection } from './serving/pages-in-one-direction.ts'
// In the order in which a reader of the schema meets them.
import './types/login.ts'
import './types/user.ts'
import './types/user-mutations.ts'
import './types/api-key.ts'
import './types/api-key-mutations.ts'
import './types/agent.ts'
import './types/agent-deployment.ts'
import './types/chat/chat.ts'
import './types/upload.ts'
import './types/call.ts'
import './conversations/conversation.ts'
import './conversations/conversation-mutations.ts'
import './types/kept-calls.ts'
import './types/usage.ts'
import './types/usage-updated.ts'
import './types/owned.ts'
import './operators/refusal.ts'
import './operators/audit-event.ts'
import './operators/gateway-process.ts'
import './types/find-node.ts'

/** The schema of the face: each file of `types/` adds its own part when it is loaded. */
export const schema = locateProblems(withPagesInOneDirection(builder.toSchema({ sortSchema: false })))

/** Returns the schema in GraphQL's schema definition language, as it is committed in `schema.graphql`. */
export function printedSchema(): string {
  return `${printSchema(schema)}\n`
}
