import { type DocumentNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql'

/** The names of the fields that an operation selects of its root type, also by fragments. The document need not be valid. */
export function rootFieldNames(
  { definitions }: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): readonly string[] {
  const names = new Set<string>()
  const spread = new Set<string>()
  const open: SelectionSetNode[] = [selectionSet]
  for (const { selections } of open) {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) names.add(selection.name.value)
      else if (selection.kind === Kind.INLINE_FRAGMENT) open.push(selection.selectionSet)
      else if (!spread.has(selection.name.value)) {
        const { value } = selection.name
        spread.add(value)
        for (const definition of definitions) {
          const isNamed = definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === value
          if (isNamed) open.push(definition.selectionSet)
        }
      }
    }
  }
  return [...names]
}
