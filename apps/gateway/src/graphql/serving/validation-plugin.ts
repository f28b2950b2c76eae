import type { Plugin } from 'graphql-yoga'
import type { GraphqlContext, OperationPlace } from '../context.ts'
import { problemBehind } from '../errors.ts'
import { createValidation } from '../mistakes/validate-document.ts'

/**
 * Validates documents by rules whose errors repeat nothing that the caller sent; refuses those for the schema unless it is
 * shown. Where nothing but literals is wrong, the refusal is left to {@link useOperationLimits}, which knows the variables.
 */
export function useValidation(showsSchema: boolean): Plugin<GraphqlContext, OperationPlace> {
  const validate = createValidation(showsSchema)
  return {
    onValidate({ setValidationFn, context }) {
      const { admitted } = context as OperationPlace
      setValidationFn((...args: Parameters<typeof validate>) => {
        const errors = validate(...args)
        const areOfInputs = errors.every((error) => problemBehind(error)?.field !== undefined)
        if (!areOfInputs) return errors
        admitted.wrongLiterals = errors
        return []
      })
    },
  }
}
