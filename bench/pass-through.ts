import { stream } from 'undici'
import { serve } from './serve.ts'

/** What the gateway is compared with: the least that a Node process can do to hand a request on and its reply back. */
const [url = ''] = process.argv.slice(2)

serve((request, response) => {
  const headers = { 'content-type': request.headers['content-type'] ?? '' }
  stream(url, { method: 'POST', headers, body: request }, (reply) => {
    response.statusCode = reply.statusCode
    return response.setHeader('content-type', reply.headers['content-type'] ?? '')
  }).catch(() => response.destroy())
})
