import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentNode, GraphQLError } from 'graphql'
import { markRejectionHandled } from '#core/base/async/mark-rejection-handled.ts'
import { fail, type Problem } from '#core/base/errors/errors.ts'
import { problemOf } from '#core/base/errors/problem-of.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { Services } from '#core/services/services.ts'
import type { PrismaClient } from '#generated/prisma/client.ts'
import type { ChatRouteOptions } from '#http/chat/chat-route.ts'
import { bearerOf, originOf } from '#http/guards/credentials.ts'
import { endUserReader } from '#http/request/end-user.ts'
import { showLimit } from '#http/response/show-headers.ts'
import { createLoaders, type Loaders } from './reads/loaders.ts'
import { PreviousReports } from './reads/previous-report.ts'
import { ReportPoints } from './reads/report-points.ts'
import { createRereads } from './reads/rereads.ts'
import type { Results } from './streams/results.ts'

/** What every resolver of one request gets. */
export interface GraphqlContext extends ContextParts, OperationPlace {
  /** The users who have logged in within this request: its results may show them although it has no caller. */
  readonly loggedIn: Set<string>
  readonly loaders: Loaders
  /** For Pothos alone, which reads by it what a resolver's result did not bring. Resolvers call services. */
  readonly rereads: PrismaClient
  readonly previousReports: PreviousReports
  readonly reportPoints: ReportPoints
}

/** What a context is made of. */
export interface ContextParts {
  readonly services: Services
  readonly prisma: PrismaClient
  readonly now: () => Date
  readonly chatOptions: ChatRouteOptions
}

/** Where an operation comes from. */
export interface OperationPlace {
  readonly http: FastifyRequest
  readonly reply: FastifyReply
  /** Aborts when the client leaves before the operation is over. */
  readonly signal: AbortSignal
  /** Whether the client takes the results of a subscription. */
  readonly canStream: boolean
  /** Has the results of an operation that are sent as an event stream, see {@link useEventStreams}. */
  readonly streamed: { results?: Results }
  /** Has the document once it was admitted. */
  readonly admitted: { document?: DocumentNode }
  /** What is known of the credential; see {@link readCredential} and {@link callerOf}. */
  readonly credential: Credential
  /** The errors whose faults are in the log, see {@link useProblems}; weak, because a subscription may live for days. */
  readonly loggedFaults: WeakSet<GraphQLError>
}

/** A credential that was looked up has a caller or a problem. */
export interface Credential {
  caller?: Principal | undefined
  problem?: Problem
  looking?: Promise<void>
}

export function placeOf(
  http: FastifyRequest,
  { reply, signal, canStream }: Pick<OperationPlace, 'reply' | 'signal' | 'canStream'>,
): OperationPlace {
  return {
    http,
    reply,
    signal,
    canStream,
    streamed: {},
    admitted: {},
    // Where the request was read only for a known caller.
    credential: { caller: http.principal },
    loggedFaults: new WeakSet<GraphQLError>(),
  }
}

export function createContext(parts: ContextParts, place: OperationPlace): GraphqlContext {
  const { http, reply, signal, canStream, streamed, admitted, credential, loggedFaults } = place
  const { services, prisma } = parts
  const onLimit = showLimit(reply)
  const caller = () => callerOf(context)
  const loggedIn = new Set<string>()
  const loaders = createLoaders(services, caller, onLimit, signal)
  const context: GraphqlContext = {
    ...parts,
    http,
    reply,
    signal,
    canStream,
    streamed,
    admitted,
    credential,
    loggedFaults,
    loggedIn,
    loaders,
    rereads: createRereads({ services, prisma, callerOf: caller, loggedIn }),
    previousReports: new PreviousReports(loaders, {
      before: (report) => services.usage.reportBefore(caller(), report, signal),
      report: (query) => services.usage.report(caller(), query, onLimit, signal),
    }),
    reportPoints: new ReportPoints(),
  }
  return context
}

/**
 * Looks up the credential of the request, once and only if it carries one. An error is kept and thrown by the first field that
 * needs a caller, so that fields without one still work.
 */
export async function readCredential(
  { authentication }: Pick<Services, 'authentication'>,
  { http, credential }: Pick<OperationPlace, 'http' | 'credential'>,
): Promise<Credential> {
  if (http.headers.authorization === undefined || credential.caller !== undefined) return credential
  credential.looking ??= markRejectionHandled(lookUp(authentication, http, credential))
  await credential.looking
  return credential
}

async function lookUp(
  authentication: Services['authentication'],
  http: FastifyRequest,
  credential: Credential,
): Promise<void> {
  try {
    const endUser = endUserReader(http, authentication)
    credential.caller = await authentication.authenticate(bearerOf(http), originOf(http), endUser)
  } catch (error) {
    credential.problem = problemOf(error)
  }
}

/**
 * The caller of the request.
 *
 * @throws Problem with status 401, or what else the look-up of the credential threw
 */
export function callerOf(context: GraphqlContext): Principal {
  return optionalCallerOf(context) ?? fail('credential_missing', CREDENTIAL_EXPECTED)
}

/** Anonymous callers are allowed, but a credential that is sent must be valid. */
export function optionalCallerOf({ credential }: GraphqlContext): Principal | undefined {
  if (credential.problem !== undefined) throw credential.problem
  return credential.caller
}

const CREDENTIAL_EXPECTED = 'authorization: expected Bearer and a credential.'
