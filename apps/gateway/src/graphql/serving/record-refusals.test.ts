import { GraphQLError, parse } from 'graphql'
import { beforeEach, expect, test, vi } from 'vitest'
import { ClientGone } from '#core/base/errors/client-gone.ts'
import { Problem } from '#core/base/errors/errors.ts'
import type { Principal } from '#core/requests/principal.ts'
import type { OperationPlace } from '../context.ts'
import { graphqlErrorOf } from '../errors.ts'
import { recordRefusals } from './record-refusals.ts'

const CALLER: Principal = {
  userId: 'owner',
  role: 'user',
  via: { kind: 'key', prefix: 'tl_000000000', keyId: 'key', permissions: ['chat'], allowedAgents: [] },
}
const record = vi.fn()
const recordOperation = vi.fn()
const authenticate = vi.fn()
const services = {
  authentication: {
    authenticate,
    requireKeyFormat: vi.fn(),
    isSuspect: () => false,
    boundEndUser: vi.fn(),
    endUserHeader: undefined,
  },
}

beforeEach(() => {
  vi.clearAllMocks()
  authenticate.mockResolvedValue(CALLER)
})

function placeOf(authorization: string | undefined, credential: OperationPlace['credential'] = {}) {
  const http = {
    id: 'r',
    ip: '192.0.2.1',
    headers: { authorization },
    raw: { headers: { authorization }, rawHeaders: [] },
    routeOptions: { url: '/graphql' },
    server: { refusals: { record, recordOperation, recordCredential: vi.fn(), identify: () => undefined } },
  }
  return { http, credential } as unknown as Pick<OperationPlace, 'http' | 'credential'>
}

const copied = (code: string) =>
  new GraphQLError('copied', { extensions: { code, status: 400, field: 'input.query' } })
const KNOWN = { keyId: 'key', ownerId: 'owner' }

test('a refusal has the caller whom the operation looked up, and the field as it is named here', () => {
  const place = placeOf('Bearer t', { caller: CALLER, looking: Promise.resolve() })
  const problem = new Problem('invalid_request', { field: ['input', 'query'] })
  recordRefusals([graphqlErrorOf(problem)], place, services)
  expect(record).toHaveBeenCalledExactlyOnceWith({
    requestId: 'r',
    face: 'graphql',
    route: '/graphql',
    requester: KNOWN,
    field: 'input.query',
    problem,
  })
  expect(authenticate).not.toHaveBeenCalled()
})

test('what was refused is named by its field, which an alias does not hide', () => {
  const place = placeOf('Bearer t', { caller: CALLER, looking: Promise.resolve() })
  const problem = new Problem('permission_denied')
  const error = new GraphQLError('refused', {
    path: ['agents', 'nodes'],
    originalError: graphqlErrorOf(problem),
  })
  const document = parse('query Other { agents { id } } query Mine { agents: users { nodes { id } } }')
  recordRefusals([error], place, services, { document, operationName: 'Mine' })
  expect(record).toHaveBeenCalledWith(expect.objectContaining({ route: 'users', problem }))
  expect(recordOperation).toHaveBeenCalledWith(expect.objectContaining({ operation: 'users' }))
})

test('of an error that was copied the code is enough', () => {
  const place = placeOf('Bearer t', { caller: CALLER, looking: Promise.resolve() })
  recordRefusals([copied('unknown_agent')], place, services)
  expect(record).toHaveBeenCalledWith(
    expect.objectContaining({ requester: KNOWN, problem: expect.objectContaining({ status: 400 }) }),
  )
})

test('the begin of a subscription is wrapped, and its problem is found', () => {
  const problem = new Problem('rate_limited', { limit: 'chat' }).refusing({ ...KNOWN, agent: 'dify' })
  const error = new GraphQLError('wrapped', { originalError: graphqlErrorOf(problem) })
  recordRefusals([error], placeOf('Bearer t'), services)
  expect(record).toHaveBeenCalledWith(
    expect.objectContaining({ requester: { ...KNOWN, agent: 'dify' }, problem }),
  )
})

test('a credential that was not looked up yet is looked up for the record, and the answer does not wait', async () => {
  const looking = Promise.withResolvers<Principal>()
  authenticate.mockReturnValue(looking.promise)
  recordRefusals([copied('document_invalid')], placeOf('Bearer t'), services)
  expect(record).not.toHaveBeenCalled()
  looking.resolve(CALLER)
  await vi.waitFor(() => expect(record).toHaveBeenCalledTimes(1))
  expect(record).toHaveBeenCalledWith(expect.objectContaining({ requester: KNOWN }))
})

test('if it cannot be looked up, and without one, nobody is named', async () => {
  authenticate.mockRejectedValue(new Problem('unavailable', { limit: 'database' }))
  recordRefusals([copied('document_invalid')], placeOf('Bearer t'), services)
  recordRefusals([copied('document_invalid')], placeOf(undefined), services)
  await vi.waitFor(() => expect(record).toHaveBeenCalledTimes(2))
  for (const [refused] of record.mock.calls) expect(refused.requester).toEqual({})
})

test('of several errors of a request, also in several results, the first is recorded', () => {
  const place = placeOf('Bearer t', { caller: CALLER, looking: Promise.resolve() })
  recordRefusals([copied('unknown_agent'), copied('invalid_request')], place, services)
  recordRefusals([copied('invalid_request')], place, services)
  expect(record).toHaveBeenCalledTimes(1)
})

test('the failure of a call is none, but the refusal of a second call in the same operation is one', () => {
  const place = placeOf('Bearer t', { caller: CALLER, looking: Promise.resolve() })
  place.http.callId = 'call'
  recordRefusals([copied('conversation_busy')], place, services)
  expect(record).not.toHaveBeenCalled()
  const problem = new Problem('rate_limited', { limit: 'chat' }).refusing(KNOWN)
  recordRefusals([graphqlErrorOf(problem)], place, services)
  expect(record).toHaveBeenCalledTimes(1)
})

test('work that ended because its client has left is no refusal', () => {
  recordRefusals([graphqlErrorOf(new ClientGone())], placeOf('Bearer t', { caller: CALLER }), services)
  expect(record).not.toHaveBeenCalled()
})
