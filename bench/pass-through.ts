import { Agent, stream } from 'undici'
import { serve } from './serve.ts'

/** What the gateway is compared with: the least that a Node process can do to hand a request on and its reply back. */
const [url = ''] = process.argv.slice(2)
/** The global one may be that of the undici inside Node, which is another version than the gateway's. */
const dispatcher = new Agent()

serve((request, response) => {
  const headers = { 'content-type': request.headers['content-type'] ?? '' }
  stream(url, { dispatcher, method: 'POST', headers, body: request }, (reply) => {
    response.statusCode = reply.statusCode
    return response.setHeader('content-type', reply.headers['content-type'] ?? '')
  }).catch(() => response.destroy())
})
