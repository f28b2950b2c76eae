import { Agent, stream } from 'undici'
import { serve } from './serve.ts'

/** The baseline: the least work with which a Node process can forward a request and its reply. */
const [url = ''] = process.argv.slice(2)
/** The global dispatcher may belong to the undici inside Node, whose version differs from the gateway's. */
const dispatcher = new Agent()

serve((request, response) => {
  const headers = { 'content-type': request.headers['content-type'] ?? '' }
  stream(url, { dispatcher, method: 'POST', headers, body: request }, (reply) => {
    response.statusCode = reply.statusCode
    return response.setHeader('content-type', reply.headers['content-type'] ?? '')
  }).catch(() => response.destroy())
})
