import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import type { Services } from '#core/services/services.ts'
import { problemsOutsideApi, ref } from '#http/response/schemas.ts'

/** Verifiers learn of a new signing key within this time. */
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
        kty: Type.Literal('OKP', { description: 'The key type.' }),
        crv: Type.Literal('Ed25519', { description: 'The curve.' }),
        x: Type.String({ description: 'The public key, base64url.' }),
        kid: Type.String({ description: 'The id of the key, to which the header of a token refers.' }),
        alg: Type.Literal('EdDSA', { description: 'The signature algorithm.' }),
        use: Type.Literal('sig', { description: 'The key verifies signatures.' }),
      }),
      { description: 'The keys that are in use and those that signed tokens which are still valid.' },
    ),
  },
  { $id: 'JwkSet', description: 'The public keys that verify the signatures of access tokens (RFC 7517).' },
)

const jwksSchema = {
  tags: ['login'],
  operationId: 'getJwks',
  summary: 'Read the public signing keys',
  description:
    'Returns a plain JWK set (RFC 7517) without the envelope of the other operations. Responses may be cached for a minute.',
  security: [],
  response: { 200: ref(JwkSetSchema), ...problemsOutsideApi('unavailable') },
}
