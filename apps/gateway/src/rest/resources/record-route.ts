import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import Type from 'typebox'
import type { ErrorReason } from '#core/base/errors/errors.ts'
import type { Principal } from '#core/requests/principal.ts'
import { callerOf } from '#http/guards/credentials.ts'
import type { smallRead } from '#http/guards/small-read.ts'
import { BODY_PROBLEMS } from '#http/response/body-problems.ts'
import { LIMIT_HEADERS } from '#http/response/response-headers.ts'
import { envelope, problems, ref, success } from '#http/response/schemas.ts'
import { showLimit } from '#http/response/show-headers.ts'
import type { Asked, GivenOf, Input, InputFields } from '#resources/define/define-input.ts'
import { objectSchema } from '#resources/define/define-resource.ts'
import type { Fields, Resource } from '#resources/define/resource.ts'

/** What the routes of a resource have in common. */
interface RecordParts<Row, Seen> {
  readonly of: Resource<Row, Fields, Seen>
  readonly tag: string
  readonly onRequest: onRequestHookHandler
  readonly guardReasons: readonly ErrorReason[]
  /** Whether an API key is refused. */
  readonly isTokenOnly?: true
  /** What bounds the reads. */
  readonly bounds?: ReturnType<typeof smallRead>
  readonly viewOf: (request: FastifyRequest) => Seen
}

interface RecordRoute<Row, Of extends InputFields> {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  /** The form that the body is, and the rules of core that need no database. */
  readonly input?: Input<Of>
  check?(caller: Principal, given: Partial<GivenOf<Of>>): unknown
  readonly reasons?: readonly ErrorReason[]
  /** Whether a change counts towards no rate limit. */
  readonly isUnlimited?: true
  /** Reads or changes what the record in the response is of. */
  call(asked: Asked<Of>): Promise<Row>
}

/** Makes the function that serves operations of which each returns a record of this resource. */
export function recordRoutes<Row, Seen>(
  app: FastifyInstance,
  { of: resource, tag, onRequest, guardReasons, isTokenOnly, bounds, viewOf }: RecordParts<Row, Seen>,
) {
  const data = envelope(objectSchema(resource))
  return function serve<const Of extends InputFields = Record<never, never>>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    {
      operationId,
      summary,
      description,
      input,
      check,
      reasons = [],
      isUnlimited,
      call,
    }: RecordRoute<Row, Of>,
  ): void {
    const isRead = method === 'GET'
    if (input !== undefined) app.addSchema(input.schema)
    const body: readonly ErrorReason[] = isRead ? ['invalid_request'] : BODY_PROBLEMS
    const [idName, idField] = idIn(url)
    const id = Type.String({ description: resource.fields[idField]?.description ?? '' })
    const schema = {
      tags: [tag],
      security: isTokenOnly ? [{ accessToken: [] }] : [{ accessToken: [] }, { apiKey: [] }],
      operationId,
      ...(isUnlimited !== true && { 'x-response-headers': LIMIT_HEADERS }),
      summary,
      description,
      ...(idName !== '' && { params: Type.Object({ [idName]: id }) }),
      ...(input !== undefined && { body: ref(input.schema) }),
      response: { 200: data, ...problems(...body, ...guardReasons, ...reasons) },
    }
    // A form of which nothing is required need not be sent to do something.
    const hasRequired = Object.values(input?.fields ?? {}).some(({ isRequired }) => isRequired === true)
    const isBodyOptional = method === 'POST' && input !== undefined && !hasRequired
    const config = input !== undefined && check !== undefined ? { judge: input.judgedBy(check) } : {}
    app.route<{ Params: Readonly<Record<string, string>> }>({
      method,
      url,
      schema,
      onRequest,
      config,
      ...(isBodyOptional ? { preValidation: takeNoBody } : {}),
      ...(isRead && bounds),
      async handler(request, reply) {
        const row = await call({
          caller: callerOf(request),
          id: request.params[idName] ?? '',
          given: input?.read(request.body) ?? ({} as GivenOf<Of>),
          onLimit: showLimit(reply),
        })
        return success(resource.record(row, viewOf(request)))
      },
    })
  }
}

async function takeNoBody(request: FastifyRequest): Promise<void> {
  if (request.headers['content-type'] === undefined) request.body ??= {}
}

/** The id in a path, such as `:call_id`, and the field that it is of the record; both empty if there is none. */
function idIn(url: string): readonly [name: string, field: string] {
  const name = /:(\w+)/.exec(url)?.[1] ?? ''
  return [name, name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())]
}
