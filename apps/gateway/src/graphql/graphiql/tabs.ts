/** An example in a tab of GraphiQL. The tab is named for its operation. */
interface Tab {
  readonly query: string
  readonly variables?: string
}

/** The examples with which GraphiQL opens. Run one after the other, they lead from a login to a chat that streams. */
export function tabsAt(now: Date): Tab[] {
  return [
    { query: LOGIN, variables: inLines({ input: { username: 'admin', password: '' } }) },
    { query: AGENTS },
    { query: CREATE_KEY, variables: inLines({ input: keyAt(now) }) },
    {
      query: CHAT,
      variables: inLines({
        input: { agentId: 'fastgpt', appId: 'demo', query: 'Hello! Who are you?', detail: false },
      }),
    },
    { query: USAGE },
    { query: LIVE },
  ]
}

function keyAt(now: Date) {
  const inAMonth = new Date(now.getTime() + 30 * 86_400_000)
  return {
    name: 'GraphiQL',
    description: 'Chats from GraphiQL.',
    expiresAt: inAMonth.toISOString(),
    permissions: ['CHAT'],
  }
}

function inLines(variables: object): string {
  return JSON.stringify(variables, null, 2)
}

const LOGIN = `# Write your password into the variables below and press the button, or Ctrl and Enter.
# The access token goes into the field at the top, and the next tabs send it.
mutation Login($input: LoginInput!) {
  login(input: $input) {
    accessToken
    expiresIn
    user {
      username
      role
    }
  }
}
`

const AGENTS = `# The agents that you may call, and whether their platforms answer.
query Agents {
  agents {
    id
    name
    status
    requires
    apps {
      appId
      name
    }
  }
}
`

const CREATE_KEY = `# A chat needs an API key. Administrators and premium users create it, with an access token.
# The key is shown only once; it goes into the field at the top, and the tab Chat sends it.
mutation CreateKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) {
    fullKey
    apiKey {
      id
      name
      keyPrefix
      expiresAt
    }
  }
}
`

const CHAT = `# The reply arrives while the agent writes it. Stopping it here stops the agent.
subscription Chat($input: ChatInput!) {
  chat(input: $input) {
    __typename
    ... on ChatStarted {
      callId
      conversationId
    }
    ... on ChatText {
      text
    }
    ... on ChatTextReplaced {
      text
    }
    ... on ChatFinished {
      finishReason
      usage {
        totalTokens
      }
    }
  }
}
`

const USAGE = `# The last 30 days, day by day, and the agents with the most calls.
query Usage {
  usage(granularity: DAY, groupBy: [AGENT]) {
    from
    to
    totals {
      calls
      failedCalls
      totalTokens
      durationMs {
        p50
        p95
      }
    }
    points {
      start
      calls
    }
    groups(first: 5) {
      agentId
      totals {
        calls
      }
    }
    previous {
      totals {
        calls
      }
    }
    quota {
      remaining
      resetsAt
    }
  }
}
`

const LIVE = `# The usage of today. Run it, chat in the tab Chat of another window, and see the numbers change.
subscription Live {
  usageUpdated {
    day
    totals {
      calls
      failedCalls
      totalTokens
    }
    quota {
      remaining
    }
  }
}
`
