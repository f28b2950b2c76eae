import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'

/** How LangGraph checks keys. It loads this file into its own process. */
export const auth = new Auth().authenticate((request) => {
  if (request.headers.get('x-api-key') === process.env.SANDBOX_KEY) return 'sandbox'
  throw new HTTPException(401, { message: 'Invalid API key' })
})
