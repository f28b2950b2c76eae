import type { ExecutionResult } from 'graphql'

/** What an operation gives: one result, or those of a subscription. */
export type Results = AsyncIterable<ExecutionResult> | ExecutionResult
