import { type DocumentNode, type FieldNode, getOperationAST, Kind, type SelectionSetNode } from 'graphql'

/** An operation that is executed. */
export interface Executed {
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
}

/** The fields with which an operation begins, also those in fragments. The document need not be valid. */
export function rootFieldsOf({ document, operationName }: Executed): FieldNode[] {
  const operation = getOperationAST(document, operationName)
  const fields: FieldNode[] = []
  const open: SelectionSetNode[] = operation == null ? [] : [operation.selectionSet]
  const spread = new Set<string>()
  for (const { selections } of open) {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) fields.push(selection)
      else if (selection.kind === Kind.INLINE_FRAGMENT) open.push(selection.selectionSet)
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value)
        for (const each of document.definitions) {
          const isSpread = each.kind === Kind.FRAGMENT_DEFINITION && each.name.value === selection.name.value
          if (isSpread) open.push(each.selectionSet)
        }
      }
    }
  }
  return fields
}
