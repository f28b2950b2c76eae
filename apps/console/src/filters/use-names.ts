import { type ChoiceKind, useChoices } from '../choose/use-choices.ts'

/**
 * The names of agents, keys and users that filters choose by their ids; an id without a known name stands for itself.
 *
 * @param kinds - those that are wanted; only their names are read
 */
export function useNames(kinds: readonly string[]): (kind: ChoiceKind, id: string) => string {
  const choices = useChoices(kinds)
  return (kind, id) => choices[kind].find((choice) => choice.id === id)?.name ?? id
}
