import { graphql } from './generated/gql.ts'

export const Login = graphql(`
  mutation Login($input: LoginInput!) {
    login(input: $input) {
      accessToken
      expiresIn
    }
  }
`)

export const CallsByAgent = graphql(`
  query CallsByAgent($from: DateTime!, $to: DateTime!) {
    usage(filter: { from: $from, to: $to }, groupBy: [AGENT]) {
      totals {
        calls
      }
      groups {
        agentId
        totals {
          calls
        }
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
