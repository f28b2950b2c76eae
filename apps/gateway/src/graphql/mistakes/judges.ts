import { checkLogin, type LoginInput } from '#core/accounts/auth/login.ts'
import type { NewKey } from '#core/accounts/keys/key-input.ts'
import {
  checkOwnPasswords,
  checkUser,
  type NewUser,
  type OwnPasswords,
  type UserChange,
} from '#core/accounts/users/user-input.ts'
import { type AuditInput, parseAuditQuery } from '#core/reports/audit-log/audit-query.ts'
import { type CallsInput, parseCallsQuery } from '#core/reports/calls-query.ts'
import type { RefusalCountsInput } from '#core/reports/refusals/refusal-counts-query.ts'
import { parseRefusalsQuery, type RefusalsInput } from '#core/reports/refusals/refusals-query.ts'
import type { ReportInput } from '#core/reports/report-query.ts'
import { allOf } from '#core/requests/input/all-of.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { GraphqlContext } from '../context.ts'
import { withoutNulls } from '../reads/without-nulls.ts'
import { type ChatFields, chatRequestOf, idempotencyKeyOf } from '../streams/chat-request.ts'
import type { SoundInputs } from './sound-inputs.ts'

/** Applies the rules of a field that need no database to those of its inputs that have the right type. */
interface Judge {
  /** Whether its result reveals something about the installation, so that a valid credential is needed. */
  readonly needsCaller: boolean
  readonly judge: (input: SoundInputs, context: GraphqlContext, caller: Principal | undefined) => void
}

/** The rules of the fields of the root types that take a form or a filter. */
export const JUDGES: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ['login', open((input) => checkLogin(input as Partial<LoginInput>))],
  ['createUser', open((input) => checkUser(withoutNulls(input) as Partial<NewUser>))],
  ['updateUser', open((input) => checkUser(withoutNulls(input) as UserChange))],
  ['setPassword', open((input) => checkUser(withoutNulls(input) as Partial<NewUser>))],
  ['changeMyPassword', open((input) => checkOwnPasswords(input as Partial<OwnPasswords>))],
  ['createApiKey', forCallers(judgeKey)],
  ['updateApiKey', forCallers(judgeKey)],
  ['chat', forCallers(judgeChat)],
  ['usage', open((input, { services }) => services.usage.checkReport(withoutNulls(input) as ReportInput))],
  ['calls', open((input) => parseCallsQuery(withoutNulls(input) as CallsInput))],
  ['refusals', open((input) => parseRefusalsQuery(withoutNulls(input) as RefusalsInput))],
  [
    'refusalCounts',
    open((input, { services }) => services.refusals.checkCounts(withoutNulls(input) as RefusalCountsInput)),
  ],
  ['auditEvents', open((input) => parseAuditQuery(withoutNulls(input) as AuditInput))],
])

function open(judge: (input: SoundInputs, context: GraphqlContext) => unknown): Judge {
  return { needsCaller: false, judge }
}

function forCallers(judge: (input: SoundInputs, context: GraphqlContext, caller: Principal) => void): Judge {
  return {
    needsCaller: true,
    judge(input, context, caller) {
      if (caller !== undefined) judge(input, context, caller)
    },
  }
}

function judgeKey(input: SoundInputs, { services }: GraphqlContext, caller: Principal): void {
  const { allowedAgents, limits, ...others } = input as Partial<NewKey>
  services.keys.check(caller, { ...withoutNulls(others), allowedAgents, limits })
}

function judgeChat(input: SoundInputs, context: GraphqlContext, caller: Principal): void {
  const fields = input as unknown as Partial<ChatFields>
  // What stands in for a field that is missing is never reported, because that the field is missing is.
  const asked = { ...fields, agentId: fields.agentId ?? '', query: fields.query ?? '-', detail: false }
  const request = chatRequestOf(asked, context, { credential: '', stream: false })
  allOf({
    others: () => context.services.chat.check(caller, request),
    idempotencyKey: () => idempotencyKeyOf(asked, context),
  })
}
