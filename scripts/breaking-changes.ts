import { buildSchema, findBreakingChanges, findDangerousChanges } from 'graphql'

/**
 * Names what a change of the schema breaks for clients that were written for the schema before, and what may surprise them,
 * such as a new value of an enum.
 */
export function breakingChanges(before: string, after: string): { breaking: string[]; dangerous: string[] } {
  const [old, current] = [buildSchema(before), buildSchema(after)]
  const textOf = ({ type, description }: { type: string; description: string }) => `${type}: ${description}`
  return {
    breaking: findBreakingChanges(old, current).map(textOf),
    dangerous: findDangerousChanges(old, current).map(textOf),
  }
}
