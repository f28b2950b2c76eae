import type { DocumentNode } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import type { DocumentVerdicts } from '../mistakes/document-verdicts.ts'

/**
 * Validates documents by rules whose errors repeat nothing that the caller sent; refuses those for the schema unless it is
 * shown. Where nothing but literals is wrong, the refusal is left to {@link useOperationLimits}, which knows the variables.
 */
export function useValidation(verdicts: DocumentVerdicts): Plugin {
  return {
    onValidate({ setValidationFn }) {
      setValidationFn((_schema: unknown, document: DocumentNode) => verdicts.refusalsOf(document))
    },
  }
}
