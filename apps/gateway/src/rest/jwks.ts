import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Services } from '#core/services/services.ts'
import { problems, ref } from '#http/schemas.ts'

/** Short enough that a new signing key is known everywhere before long. */
const CACHE_SECONDS = 60

export function jwksRoutes(app: FastifyInstance, services: Pick<Services, 'tokens'>): void {
  app.addSchema(JwkSetSchema)

  app.get('/.well-known/jwks.json', { schema: jwksSchema }, async (_request, reply) => {
    reply.header('cache-control', `public, max-age=${CACHE_SECONDS}`)
    return services.tokens.jwks()
  })
}

const JwkSetSchema = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.Literal('OKP'),
        crv: Type.Literal('Ed25519'),
        x: Type.String(),
        kid: Type.String(),
        alg: Type.Literal('EdDSA'),
        use: Type.Literal('sig'),
      }),
    ),
  },
  { $id: 'JwkSet', description: 'The public keys that access tokens are signed with (RFC 7517).' },
)

const jwksSchema = {
  tags: ['login'],
  operationId: 'getJwks',
  summary: 'Read the public signing keys',
  description: 'A plain JWK set, without the envelope.',
  security: [],
  response: { 200: ref(JwkSetSchema), ...problems('unavailable') },
}
