import { graphql } from '../generated/gql.ts'

export const Conversations = graphql(`
  query Conversations($agentId: String!) {
    conversations(filter: { agentId: $agentId }, first: 20) {
      nodes {
        id
        conversationId
        name
      }
    }
  }
`)

export const Messages = graphql(`
  query Messages($id: ID!, $before: String) {
    conversation(id: $id) {
      id
      messages(last: 20, before: $before) {
        nodes {
          messageId
          role
          text
          callId
          rating
        }
        pageInfo {
          hasPreviousPage
          startCursor
        }
      }
    }
  }
`)

export const Ask = graphql(`
  subscription Ask($input: ChatInput!) {
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
    }
  }
`)

export const RenameConversation = graphql(`
  mutation RenameConversation($input: RenameConversationInput!) {
    renameConversation(input: $input) {
      conversation {
        id
        name
      }
    }
  }
`)

export const DeleteConversation = graphql(`
  mutation DeleteConversation($input: DeleteConversationInput!) {
    deleteConversation(input: $input) {
      id
    }
  }
`)

export const RateCall = graphql(`
  mutation RateCall($input: RateCallInput!) {
    rateCall(input: $input) {
      callId
      rating
    }
  }
`)
