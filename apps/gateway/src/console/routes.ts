import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '#core/base/errors/errors.ts'
import { revalidate } from '#http/response/fixed-body.ts'
import { addVary } from '#http/response/vary.ts'
import { acceptedCoding } from './accepted-coding.ts'
import type { BuiltConsole, ConsoleFile } from './built-console.ts'

/**
 * Serves the console under `/console`. No route needs a credential or the database, so that the page loads while the gateway
 * starts or drains, and can say so. Without a build the same paths say how to make one.
 */
export function consoleRoutes(app: FastifyInstance, built: BuiltConsole | undefined): void {
  const options = { schema: { hide: true } }
  app.get('/console', options, async (request, reply) => sendPage(request, reply, built))
  app.get<{ Params: { '*': string } }>('/console/*', options, async (request, reply) => {
    const path = request.params['*']
    const file = built?.files.get(path)
    // Every path that is no file is a view of the page, which reads it from the address.
    if (!path.startsWith(ASSETS)) {
      return file === undefined || file === built?.page
        ? sendPage(request, reply, built)
        : sendFile(request, reply, file)
    }
    // A page of an earlier build may ask for a script that no longer exists. HTML in its place would be a syntax error.
    if (file === undefined) return fail('route_not_found', built === undefined ? NOT_BUILT : NO_SUCH_FILE)
    return sendFile(request, reply, file, FOREVER)
  })
}

const ASSETS = 'assets/'
/** The names of assets contain a hash of their content, so what a name stands for never changes. */
const FOREVER = 'public, max-age=31536000, immutable'
const NOT_BUILT = 'The console is not built. Run "pnpm build:console" and start the gateway again.'
const NO_SUCH_FILE = 'The console has no such file.'

function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  built: BuiltConsole | undefined,
): FastifyReply {
  if (built === undefined) return fail('route_not_found', NOT_BUILT)
  return sendFile(request, reply.headers(PAGE_HEADERS), built.page)
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, body, coded }: ConsoleFile,
  cacheControl = 'no-cache',
): FastifyReply {
  const coding = acceptedCoding(request.headers['accept-encoding'], [...coded.keys()])
  const left = revalidate(request, reply, (coding && coded.get(coding)) ?? body)
  addVary(reply, 'Accept-Encoding')
  if (coding !== undefined) reply.header('content-encoding', coding)
  return reply.type(type).header('cache-control', cacheControl).send(left)
}

const PAGE_HEADERS = {
  // Uploaded files may be shown from other origins only as links, so the page needs no origin but its own.
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}
