import { type DocumentNode, type FieldNode, getOperationAST, Kind, type SelectionSetNode } from 'graphql'

/** An operation that is executed. */
export interface Executed {
  readonly document: DocumentNode
  readonly operationName?: string | null | undefined
}

/** The fields with which an operation begins, also those in fragments. The document must be valid, or fragments might be endless. */
export function rootFieldsOf({ document, operationName }: Executed): FieldNode[] {
  const operation = getOperationAST(document, operationName ?? undefined)
  return operation == null ? [] : [...fieldsIn(operation.selectionSet, document)]
}

function* fieldsIn({ selections }: SelectionSetNode, document: DocumentNode): Generator<FieldNode> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) yield selection
    else if (selection.kind === Kind.INLINE_FRAGMENT) yield* fieldsIn(selection.selectionSet, document)
    else {
      const { value: name } = selection.name
      for (const definition of document.definitions) {
        if (definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name)
          yield* fieldsIn(definition.selectionSet, document)
      }
    }
  }
}
