import { graphql } from './generated/gql.ts'

export const Login = graphql(`
  mutation Login($input: LoginInput!) {
    login(input: $input) {
      accessToken
    }
  }
`)

export const ApiKeys = graphql(`
  query ApiKeys($after: String) {
    apiKeys(first: 10, after: $after) {
      totalCount
      nodes {
        id
        name
        keyPrefix
        isActive
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`)

export const CreateApiKey = graphql(`
  mutation CreateApiKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      fullKey
      apiKey {
        id
      }
    }
  }
`)

export const RevokeApiKey = graphql(`
  mutation RevokeApiKey($input: RevokeApiKeyInput!) {
    revokeApiKey(input: $input) {
      apiKey {
        id
        isActive
      }
    }
  }
`)

/** What a report has for everything together, for each group and for each hour, day or month. */
export const Metrics = graphql(`
  fragment Metrics on UsageMetrics {
    calls
    failedCalls
  }
`)

export const UsageByAgent = graphql(`
  query UsageByAgent($from: DateTime!, $to: DateTime!) {
    usage(filter: { from: $from, to: $to }, groupBy: [AGENT]) {
      totals {
        ...Metrics
      }
      groups {
        agentId
        totals {
          ...Metrics
        }
      }
    }
  }
`)

export const UsageUpdated = graphql(`
  subscription UsageUpdated {
    usageUpdated {
      totals {
        ...Metrics
      }
      quota {
        remaining
      }
    }
  }
`)

export const Chat = graphql(`
  subscription Chat($input: ChatInput!) {
    chat(input: $input) {
      __typename
      ... on ChatStarted {
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
        pause {
          pauseId
          options {
            optionId
            title
          }
        }
      }
    }
  }
`)
