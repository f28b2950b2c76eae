export interface LlmsTextOptions {
  readonly publicUrl: string
  /** The names of the platforms that agents may have. */
  readonly platforms: readonly string[]
  readonly showsSchema: boolean
}

/** Returns what a language model needs to know of this gateway, in the form of https://llmstxt.org. */
export function llmsText({ publicUrl: url, platforms, showsSchema }: LlmsTextOptions): string {
  const schema = `- [GraphQL schema](${url}/schema.graphql): Every type of the GraphQL interface, for code generators.\n`
  return `# Trunkline

> Trunkline is one HTTP interface in front of AI agent platforms (${platforms.join(', ')}). This gateway is at ${url}.

It has three interfaces to the same agents, which take the same credentials:

- REST under ${url}/api/v1: \`POST /api/v1/chat\` sends a question to the agent that the header \`Agent\` names, and \`GET /api/v1/agents\` lists the agents.
- OpenAI-compatible, with the base URL ${url}/api/v1: \`POST /chat/completions\` and \`POST /responses\`, with the id of an agent as \`model\`.
- GraphQL at ${url}/graphql: chats as mutations and subscriptions, and the lists, reports and changes of REST.

Requests carry \`Authorization: Bearer <credential>\`. Chats and uploads take an API key, which begins with \`tl_\`. Keys are made with an access token, which \`POST /api/v1/login\` returns for a username and a password. Every error has a stable word: \`reason\`, in OpenAI's form and in GraphQL's \`extensions\` \`code\`. This streams a chat:

\`\`\`sh
curl -N ${url}/api/v1/chat -H "authorization: Bearer $TRUNKLINE_API_KEY" -H 'agent: <agent>' -H 'content-type: application/json' -d '${CHAT}'
\`\`\`

## Reference

- [OpenAPI document](${url}/openapi.json): Every REST and OpenAI-compatible operation, with its fields, limits and errors.
- [API reference](${url}/docs): The same as a page for people.
${showsSchema ? schema : ''}- [GraphQL endpoint](${url}/graphql): Takes queries, mutations and, as server-sent events, subscriptions.

## Clients

- [@trunkline/sdk](https://www.npmjs.com/package/@trunkline/sdk): The typed client for JavaScript and TypeScript, with the GraphQL schema.
`
}

const CHAT = JSON.stringify({
  app_id: '',
  chat_id: '',
  stream: true,
  detail: false,
  query: 'Hello',
  conversation_id: '',
  files: [],
})
